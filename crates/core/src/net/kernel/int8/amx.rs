//! AMX on Linux: one instruction multiplies 16 rows of 64 inputs by 16 columns. AVX-512 with VNNI computes the rest,
//! which does not fill such tiles.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::LazyLock;

use super::simd::{self, Unit};
use super::vnni::Vnni;
use super::{Dense8, Int8, Rows16};
use crate::net::kernel::{Dense, Epilogue};

/// Rows of a tile of inputs, and columns of a tile of weights.
const SIDE: usize = 16;

/// Inputs of a tile: the bytes of a row.
const DEPTH: usize = 64;

/// The kernel for AMX. A value of this type exists only if this process may use AMX and the CPU has VNNI.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Amx(Vnni);

impl Amx {
    /// The kernel, if this process can run it.
    pub(in crate::net) fn detect() -> Option<Amx> {
        static ALLOWED: LazyLock<bool> = LazyLock::new(|| exists() && ask());
        Vnni::detect().filter(|_| *ALLOWED).map(Amx)
    }
}

/// Whether the CPU can multiply tiles of bytes, and the operating system saves tiles when it switches threads.
fn exists() -> bool {
    const TILES: u32 = 1 << 24;
    const BYTES: u32 = 1 << 25;
    const SYSTEM: u32 = 1 << 27; // of leaf 1: `xgetbv` works
    const STATES: u64 = 3 << 17;
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & SYSTEM == 0 {
        return false;
    }
    let features = __cpuid_count(7, 0).edx;
    // SAFETY: the processor has the instruction, as leaf 1 says.
    features & TILES != 0 && features & BYTES != 0 && unsafe { _xgetbv(0) } & STATES == STATES
}

/// Asks Linux to let this process use tiles. A process must ask, because tiles enlarge the state that is saved for a
/// thread.
fn ask() -> bool {
    const ARCH_PRCTL: usize = 158;
    const REQUEST: usize = 0x1023; // ARCH_REQ_XCOMP_PERM
    const TILE_DATA: usize = 18;
    let result: isize;
    // SAFETY: the call changes nothing in memory, and keeps all registers but these.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") REQUEST,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result == 0
}

impl Int8 for Amx {
    const COLUMNS: usize = <Vnni as Int8>::COLUMNS;
    const DEPTH: usize = <Vnni as Int8>::DEPTH;

    fn quantise(self, row: &[f32], inputs: &mut [u8]) -> f32 {
        self.0.quantise(row, inputs)
    }

    fn dense(self, layer: &Dense8, input: &[u8], scales: &[f32], mut epilogue: Epilogue<'_>) {
        layer.check(input, scales, &epilogue);
        if scales.len() < ROWS || !layer.layer.inputs.is_multiple_of(DEPTH) {
            return self.0.dense(layer, input, scales, epilogue);
        }
        // SAFETY: holding `self` proves the instructions; `check` proves every length.
        unsafe { dense(layer, input, scales, &mut epilogue) }
    }

    fn sum_rows(self, table: &Rows16, rows: &[u32], out: &mut [f32]) {
        self.0.sum_rows(table, rows, out);
    }
}

/// The shapes of the eight tiles, in the format of the CPU.
#[repr(C, align(64))]
struct Shapes {
    palette: [u8; 16],
    bytes: [u16; 16],
    rows: [u8; 16],
}

static SHAPES: Shapes = Shapes {
    palette: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Rows that are multiplied together: three tiles, so that the next product seldom waits for the last one.
const ROWS: usize = 3 * SIDE;

/// Sums of the rows that are multiplied together.
#[repr(C, align(64))]
struct Sums([[i32; SIDE]; ROWS]);

/// See [`Int8::dense`].
///
/// # Safety
/// This process can run the kernel, `layer.check(input, scales, epilogue)` passed, and inputs come in whole tiles.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn dense(layer: &Dense8, input: &[u8], scales: &[f32], epilogue: &mut Epilogue<'_>) {
    let Dense { ref weights, inputs, outputs, .. } = layer.layer;
    let whole = scales.len() / ROWS * ROWS;
    let mut sums = Sums([[0; SIDE]; ROWS]);
    // SAFETY: a panel holds `inputs * columns` weights in groups of four inputs, so a tile of it has 16 rows that are
    // `4 * columns` bytes apart; the rows of inputs lie `inputs` bytes apart. `whole` is at most the number of rows.
    unsafe {
        asm!("ldtilecfg [{}]", in(reg) &raw const SHAPES, options(nostack, readonly, preserves_flags));
        for panel in (0..outputs).step_by(<Amx as Int8>::COLUMNS) {
            let columns = (outputs - panel).min(<Amx as Int8>::COLUMNS);
            for column in (panel..panel + columns).step_by(SIDE) {
                let weights = weights.as_ptr().add(inputs * panel + 4 * (column - panel));
                for row in (0..whole).step_by(ROWS) {
                    let input = input.as_ptr().add(row * inputs);
                    multiply(input, inputs, weights, 4 * columns, &mut sums);
                    for (row, sums) in (row..).zip(&sums.0) {
                        simd::finish(layer, *sums, scales, (row, column), epilogue);
                    }
                }
            }
        }
        asm!("tilerelease", options(nostack, nomem, preserves_flags));
        simd::dense::<Vnni, { Vnni::LANES }>(layer, input, scales, whole, epilogue);
    }
}

/// Multiplies 48 rows by 16 columns.
///
/// # Safety
/// The tiles have their shapes. `input` points to 48 rows of `inputs` bytes, a multiple of 64; `weights` to as many
/// weights for 16 columns, of which four for each column lie together, `stride` bytes from the next four.
#[inline(always)]
unsafe fn multiply(input: *const u8, inputs: usize, weights: *const i8, stride: usize, sums: &mut Sums) {
    // SAFETY: the caller's promise; tiles are used nowhere else.
    unsafe {
        asm!("tilezero tmm0", "tilezero tmm1", "tilezero tmm2", options(nostack, nomem, preserves_flags));
        for from in (0..inputs).step_by(DEPTH) {
            asm!(
                "tileloadd tmm3, [{weights} + {stride}]",
                "tileloadd tmm4, [{first} + {inputs}]",
                "tdpbusd tmm0, tmm4, tmm3",
                "tileloadd tmm5, [{second} + {inputs}]",
                "tdpbusd tmm1, tmm5, tmm3",
                "tileloadd tmm6, [{third} + {inputs}]",
                "tdpbusd tmm2, tmm6, tmm3",
                weights = in(reg) weights.add(from / 4 * stride),
                stride = in(reg) stride,
                inputs = in(reg) inputs,
                first = in(reg) input.add(from),
                second = in(reg) input.add(from + SIDE * inputs),
                third = in(reg) input.add(from + 2 * SIDE * inputs),
                options(nostack, readonly, preserves_flags)
            );
        }
        let sums = sums.0.as_mut_ptr();
        asm!(
            "tilestored [{first} + {stride}], tmm0",
            "tilestored [{second} + {stride}], tmm1",
            "tilestored [{third} + {stride}], tmm2",
            first = in(reg) sums,
            second = in(reg) sums.add(SIDE),
            third = in(reg) sums.add(2 * SIDE),
            stride = in(reg) 4 * SIDE,
            options(nostack, preserves_flags)
        );
    }
}
