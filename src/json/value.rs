//! The value a JSON text stands for. Strings borrow from the text where no escape forces a copy.

use std::borrow::Cow;

/// A number with its digits kept: integers of 64 bits stay integers, everything else is the nearest double (N-01).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A negative integer literal.
    Int(i64),
    /// An integer literal that is zero or more.
    Uint(u64),
    /// A literal with a fraction or an exponent, or an integer that is exactly the text of its double.
    Double(f64),
}

impl Number {
    /// The number as a double; integers beyond 2^53 lose digits, so never use it for what is hashed.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Uint(n) => n as f64,
            Number::Double(n) => n,
        }
    }

    /// The number as an unsigned integer when its value is one, however it was written (`1`, `1.0`, `1e0`).
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn as_u64(self) -> Option<u64> {
        match self {
            Number::Uint(n) => Some(n),
            Number::Int(_) => None,
            Number::Double(n) if (0.0..=9_007_199_254_740_992.0).contains(&n) && n.fract() == 0.0 => Some(n as u64),
            Number::Double(_) => None,
        }
    }

    /// Whether a JavaScript number holds it exactly: false for integers beyond 2^53 - 1 (N-04).
    #[must_use]
    pub fn is_js_safe(self) -> bool {
        const MAX: u64 = 9_007_199_254_740_991;
        match self {
            Number::Uint(n) => n <= MAX,
            Number::Int(n) => n.unsigned_abs() <= MAX,
            Number::Double(_) => true,
        }
    }
}

/// Members in the order of the text. Keys are unique: the parser refuses a second one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object<'a>(pub(super) Vec<(Cow<'a, str>, Value<'a>)>);

impl<'a> Object<'a> {
    /// The member of that name.
    #[must_use]
    #[inline(never)]
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Members in order, given away.
    pub(crate) fn into_members(self) -> impl Iterator<Item = (Cow<'a, str>, Value<'a>)> {
        self.0.into_iter()
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is `{}`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces the member or adds it at the end.
    #[inline(never)]
    pub fn set(&mut self, key: &str, value: Value<'a>) {
        if let Some((_, old)) = self.0.iter_mut().find(|(name, _)| name == key) {
            *old = value;
        } else {
            self.0.push((Cow::Owned(key.to_owned()), value));
        }
    }

    /// The member of that name, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

/// One JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// The string, when it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object, when it is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements, when it is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The unsigned integer, when the value is one.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// A copy that borrows nothing.
    #[must_use]
    #[inline(never)]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Number(number) => Value::Number(number),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Value::Object(object) => Value::Object(Object(
                object.0.into_iter().map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned())).collect(),
            )),
        }
    }

    /// A string value.
    #[must_use]
    pub fn text(text: &str) -> Value<'static> {
        Value::String(Cow::Owned(text.to_owned()))
    }

    /// How many values it is made of, itself included.
    #[must_use]
    pub fn count(&self) -> u64 {
        let inner = match self {
            Value::Array(items) => items.iter().map(Value::count).fold(0, u64::saturating_add),
            Value::Object(object) => object.iter().map(|(_, value)| value.count()).fold(0, u64::saturating_add),
            _ => 0,
        };
        inner.saturating_add(1)
    }

    /// Whether every integer in it survives a JavaScript number (N-04).
    #[must_use]
    pub fn is_js_safe(&self) -> bool {
        match self {
            Value::Number(number) => number.is_js_safe(),
            Value::Array(items) => items.iter().all(Value::is_js_safe),
            Value::Object(object) => object.iter().all(|(_, value)| value.is_js_safe()),
            _ => true,
        }
    }
}
