//! Messages-style responses (P-04, P-12, P-18, S-15, S-16, S-19). Whole blocks of bodies and opened blocks of streams are judged alike.

mod block;
mod response;
mod shape;
mod stream;

pub(crate) use response::read_response;
pub(crate) use stream::MessagesStream;
