//! The kinds of kernels and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[cfg(target_arch = "x86_64")]
use super::{avx2::Avx2, avx512::Avx512, bf16::Avx512Bf16};
use crate::game::shorten;

/// The kinds of kernels, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelKind {
    /// Portable code for every machine.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512.
    Avx512,
    /// AVX-512 with bf16 products: outputs differ from the others by about one part in 200.
    Avx512Bf16,
}

impl KernelKind {
    /// All kinds, slowest first.
    pub const ALL: [KernelKind; 4] = [
        KernelKind::Portable,
        KernelKind::Avx2,
        KernelKind::Avx512,
        KernelKind::Avx512Bf16,
    ];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            KernelKind::Portable => "portable",
            KernelKind::Avx2 => "avx2",
            KernelKind::Avx512 => "avx512",
            KernelKind::Avx512Bf16 => "avx512-bf16",
        }
    }

    /// The kinds that this processor can run, slowest first.
    pub fn available() -> Vec<KernelKind> {
        KernelKind::ALL
            .into_iter()
            .filter(|kind| kind.runs_here())
            .collect()
    }

    /// The fastest kind that this processor can run.
    pub fn best() -> KernelKind {
        let available = KernelKind::available();
        *available
            .last()
            .expect("the portable kernel runs everywhere")
    }

    fn runs_here(self) -> bool {
        match self {
            KernelKind::Portable => true,
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512 => Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512Bf16 => Avx512Bf16::detect().is_some(),
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
        KernelKind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| {
                let names = KernelKind::ALL.map(KernelKind::name).join(", ");
                let text = shorten(text);
                format!("unknown kernel `{text}`; the kernels are {names}")
            })
    }
}
