//! The kinds of kernels and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::int8;
#[cfg(target_arch = "x86_64")]
use super::{avx2::Avx2, avx512::Avx512};
use crate::game::shorten;

/// The kinds of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelKind {
    /// Portable code for every machine.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512.
    Avx512,
    /// Integers of 8 and 16 bits, by the best instructions of the processor: the same bits on every machine, which
    /// differ from those of the other kernels by about one part in 200.
    Int8,
}

impl KernelKind {
    /// All kinds.
    pub const ALL: [KernelKind; 4] = [KernelKind::Portable, KernelKind::Avx2, KernelKind::Avx512, KernelKind::Int8];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            KernelKind::Portable => "portable",
            KernelKind::Avx2 => "avx2",
            KernelKind::Avx512 => "avx512",
            KernelKind::Int8 => "int8",
        }
    }

    /// The kinds that this processor can run.
    pub fn available() -> Vec<KernelKind> {
        KernelKind::ALL.into_iter().filter(|kind| kind.runs_here()).collect()
    }

    /// The kind for networks whose user names none: small integers where the processor multiplies them quickly, which
    /// is one and a half to three times as fast there as 32-bit floats, and half as fast elsewhere.
    pub fn best() -> KernelKind {
        if int8::is_fast() { KernelKind::Int8 } else { KernelKind::Portable }
    }

    /// Whether this processor can run it.
    pub fn runs_here(self) -> bool {
        match self {
            KernelKind::Portable | KernelKind::Int8 => true,
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512 => Avx512::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
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
