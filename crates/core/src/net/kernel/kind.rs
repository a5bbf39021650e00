//! The kinds of kernels and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::int8;
use crate::game::shorten;

/// The kinds of kernels. Each gives the same bits on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelKind {
    /// 32-bit floats.
    Portable,
    /// Integers of 8 and 16 bits, with the best instructions of the CPU. Results differ from those in floats by about
    /// one part in 200.
    Int8,
}

impl KernelKind {
    /// All kinds.
    pub const ALL: [KernelKind; 2] = [KernelKind::Portable, KernelKind::Int8];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            KernelKind::Portable => "portable",
            KernelKind::Int8 => "int8",
        }
    }

    /// The default kind: `int8` if the CPU has fast instructions for products of bytes, otherwise floats, which are
    /// then twice as fast.
    pub fn best() -> KernelKind {
        if int8::is_fast() { KernelKind::Int8 } else { KernelKind::Portable }
    }
}

impl fmt::Display for KernelKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for KernelKind {
    type Err = String;

    fn from_str(text: &str) -> Result<KernelKind, String> {
        KernelKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names = KernelKind::ALL.map(KernelKind::name).join(", ");
            let text = shorten(text);
            format!("unknown kernel `{text}`; the kernels are {names}")
        })
    }
}
