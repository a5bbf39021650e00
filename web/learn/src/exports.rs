//! What JavaScript calls. Messages and answers are bytes in the [buffer](crate::buffer). A negative answer is the length of
//! an error's text.
#![allow(unsafe_code, reason = "names and imports of WebAssembly, and random bytes for libraries")]

use std::cell::RefCell;

use crate::buffer::{put, taken};
use crate::{Game, LearnError, Players, Worker};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// A random number from 0 to 1.
    safe fn random() -> f64;
}

/// Libraries name things by random numbers. Nothing that is learned depends on them.
///
/// # Safety
/// `place` points to room for so many bytes.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(place: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    for offset in 0..length {
        // SAFETY: the caller promises room for `length` bytes, and `offset` is less.
        unsafe { place.add(offset).write((256.0 * random()) as u8) };
    }
    Ok(())
}

thread_local! {
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

/// See [`Worker::new`]; the buffer holds the settings.
#[unsafe(no_mangle)]
extern "C" fn open() -> i32 {
    let text = String::from_utf8_lossy(&taken()).into_owned();
    let opened = Worker::new(&text).map(|worker| {
        WORKER.set(Some(worker));
        Vec::new()
    });
    given(opened)
}

/// See [`Worker::begin_learning`]; the buffer holds an agent, or nothing.
#[unsafe(no_mangle)]
extern "C" fn begin_learning() -> i32 {
    let agent = taken();
    told(|worker| worker.begin_learning(Some(&*agent).filter(|bytes| !bytes.is_empty())))
}

/// See [`Worker::resume_learning`].
#[unsafe(no_mangle)]
extern "C" fn resume_learning(owed: f64) -> i32 {
    let checkpoint = taken();
    told(|worker| worker.resume_learning(&checkpoint, owed))
}

/// See [`Worker::checkpoint`].
#[unsafe(no_mangle)]
extern "C" fn checkpoint() -> i32 {
    asked(|worker| worker.checkpoint())
}

/// See [`Worker::owed`].
#[unsafe(no_mangle)]
extern "C" fn owed() -> f64 {
    WORKER.with_borrow(|worker| worker.as_ref().map_or(0.0, Worker::owed))
}

/// See [`Worker::agent`].
#[unsafe(no_mangle)]
extern "C" fn agent(games: f64) -> i32 {
    asked(|worker| worker.agent(games as u64))
}

/// See [`Worker::add_samples`].
#[unsafe(no_mangle)]
extern "C" fn add_samples(is_new: bool) -> i32 {
    let samples = taken();
    told(|worker| worker.add_samples(&samples, is_new))
}

/// See [`Worker::steps_due`].
#[unsafe(no_mangle)]
extern "C" fn steps_due() -> u32 {
    WORKER.with_borrow(|worker| worker.as_ref().map_or(0, Worker::steps_due)) as u32
}

/// See [`Worker::learn`]. The answer is JSON.
#[unsafe(no_mangle)]
extern "C" fn learn(steps: u32) -> i32 {
    answered(|worker| worker.learn(steps.into()))
}

/// See [`Worker::play_with`].
#[unsafe(no_mangle)]
extern "C" fn play_with() -> i32 {
    let agent = taken();
    told(|worker| worker.play_with(&agent))
}

/// See [`Worker::round`]. The answer is the number of positions. (`round` is a name of the C library.)
#[unsafe(no_mangle)]
extern "C" fn play_round() -> i32 {
    let mut positions = 0;
    match told(|worker| worker.round().map(|count| positions = count as i32)) {
        0 => positions,
        error => error,
    }
}

/// See [`Worker::samples`]. 0 if there are not enough.
#[unsafe(no_mangle)]
extern "C" fn samples() -> i32 {
    asked(|worker| Ok(worker.samples().unwrap_or_default()))
}

/// See [`Worker::files`].
#[unsafe(no_mangle)]
extern "C" fn files() -> u32 {
    WORKER.with_borrow(|worker| worker.as_ref().map_or(0, Worker::files)) as u32
}

/// See [`Worker::games`].
#[unsafe(no_mangle)]
extern "C" fn games() -> f64 {
    WORKER.with_borrow(|worker| worker.as_ref().map_or(0, Worker::games)) as f64
}

/// See [`Worker::take_exam`].
#[unsafe(no_mangle)]
extern "C" fn take_exam() -> i32 {
    let exam = taken();
    told(|worker| worker.take_exam(&exam))
}

/// See [`Worker::take_agent`].
#[unsafe(no_mangle)]
extern "C" fn take_agent(place: usize) -> i32 {
    let agent = taken();
    told(|worker| worker.take_agent(place, &agent))
}

/// See [`Worker::examine`]; the buffer holds the agent. The answer is JSON.
#[unsafe(no_mangle)]
extern "C" fn examine(simulations: u32, questions: u32) -> i32 {
    let agent = taken();
    answered(|worker| worker.examine(&agent, simulations.into(), questions.into()))
}

/// See [`Worker::play_pair`]; the buffer holds [`Players`] as JSON. The answer is JSON, too.
#[unsafe(no_mangle)]
extern "C" fn play_pair(seed: u32) -> i32 {
    let players = message::<Players>();
    answered(|worker| worker.play_pair(&players?, seed.into()))
}

/// See [`Worker::opinion`]; the buffer holds the text of the position. The answer is JSON.
#[unsafe(no_mangle)]
extern "C" fn opinion() -> i32 {
    let position = String::from_utf8_lossy(&taken()).into_owned();
    answered(|worker| worker.opinion(&position))
}

/// See [`Worker::scenes`]; the buffer holds a [`Game`] as JSON. The answer is JSON, too.
#[unsafe(no_mangle)]
extern "C" fn scenes() -> i32 {
    let game = message::<Game>();
    answered(|worker| worker.scenes(&game?))
}

fn message<T: DeserializeOwned>() -> Result<T, LearnError> {
    serde_json::from_slice(&taken()).map_err(LearnError::message)
}

fn answered<T: Serialize>(work: impl FnOnce(&mut Worker) -> Result<T, LearnError>) -> i32 {
    asked(|worker| Ok(serde_json::to_vec(&work(worker)?).expect("an answer is plain data")))
}

fn told(work: impl FnOnce(&mut Worker) -> Result<(), LearnError>) -> i32 {
    asked(|worker| work(worker).map(|()| Vec::new()))
}

fn asked(work: impl FnOnce(&mut Worker) -> Result<Vec<u8>, LearnError>) -> i32 {
    given(WORKER.with_borrow_mut(|worker| work(worker.as_mut().ok_or(LearnError::Missing("worker"))?)))
}

fn given(answer: Result<Vec<u8>, LearnError>) -> i32 {
    match answer {
        Ok(bytes) => put(bytes) as i32,
        Err(error) => -(put(error.to_string().into_bytes()) as i32),
    }
}
