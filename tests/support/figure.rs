//! What one figure is made of.

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Figure {
    pub checks: usize,
    pub wrong: Vec<String>,
}

impl Figure {
    pub fn check(&mut self, right: bool, what: impl FnOnce() -> String) {
        self.checks += 1;
        if !right {
            self.wrong.push(what());
        }
    }

    pub fn add(&mut self, other: Figure) {
        self.checks += other.checks;
        self.wrong.extend(other.wrong);
    }
}
