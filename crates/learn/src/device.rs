//! Evaluation on a device that is not the CPU. The leaves of all threads are merged, so that the device gets large
//! batches, and the threads work on while it computes.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::train::{DeviceKind, OpenDevice, on_device};
use jarmo_core::net::{FeatureBatch, FrozenNet, KernelKind, Logits, NetShape, Network, Traffic, Weights};

/// How many batches are at a device at a time: while it computes one, the other is uploaded or read back.
const IN_FLIGHT: usize = 2;

/// A network for play: on the CPU it is computed by this kernel, on another device by burn.
pub fn playing(weights: &Weights, device: &OpenDevice, kernel: KernelKind) -> FrozenNet {
    match device.kind() {
        DeviceKind::Cpu => FrozenNet::with_kernel(weights, kernel),
        DeviceKind::Cuda(_) | DeviceKind::Wgpu => serve(on_device(weights, device)),
    }
}

/// Serves a network to many threads: clones of the result hand their batches to this network, which runs on threads of
/// its own. They end when the last clone is dropped.
pub fn serve(net: FrozenNet) -> FrozenNet {
    let (requests, queue) = channel();
    let (queue, used) = (Arc::new(Mutex::new(queue)), Arc::default());
    for _ in 0..IN_FLIGHT {
        let (net, queue, used) = (net.clone(), Arc::clone(&queue), Arc::clone(&used));
        thread::spawn(move || work(net, &queue, &used));
    }
    let batch = net.batch();
    FrozenNet::of(Served { net, requests, answer: None, used }).in_batches_of(batch)
}

/// A network whose batches are computed elsewhere.
struct Served {
    net: FrozenNet, // only for its shape and its traffic
    requests: Sender<Request>,
    answer: Option<Receiver<Logits>>, // of the submitted batch
    used: Arc<Mutex<Used>>,
}

struct Request {
    batch: FeatureBatch,
    answer: Sender<Logits>,
}

/// How long the device had batches so far.
#[derive(Default)]
struct Used {
    busy: Duration, // until it was idle last
    since: Option<Instant>,
    in_flight: usize,
}

impl Network for Served {
    fn shape(&self) -> &NetShape {
        self.net.shape()
    }

    /// While as many groups of each thread are at the device as it takes batches, the trees of one more grow.
    fn groups(&self) -> usize {
        IN_FLIGHT + 1
    }

    fn evaluate(&mut self, batch: &FeatureBatch, logits: &mut Logits) {
        self.submit(batch, logits);
        self.finish(logits);
    }

    fn submit(&mut self, batch: &FeatureBatch, _: &mut Logits) {
        let (answer, answered) = channel();
        self.requests.send(Request { batch: batch.clone(), answer }).expect(ENDED);
        self.answer = Some(answered);
    }

    fn finish(&mut self, logits: &mut Logits) {
        let answer = self.answer.take().expect("a batch was submitted");
        *logits = answer.recv().expect(ENDED);
    }

    fn traffic(&self) -> Option<Traffic> {
        let traffic = self.net.traffic()?;
        Some(Traffic { busy: lock(&self.used).busy.as_nanos() as u64, ..traffic })
    }

    fn fork(&self) -> Box<dyn Network> {
        let Served { net, requests, used, .. } = self;
        Box::new(Served { net: net.clone(), requests: requests.clone(), answer: None, used: Arc::clone(used) })
    }
}

const ENDED: &str = "the threads of the device run as long as its networks are in use";

/// Evaluates what is in the queue, until nobody can add to it.
fn work(mut net: FrozenNet, queue: &Mutex<Receiver<Request>>, used: &Mutex<Used>) {
    let (mut batch, mut logits) = (FeatureBatch::new(), Logits::new(*net.shape()));
    let mut requests = Vec::new();
    loop {
        batch.clear();
        let waiting = lock(queue);
        let Ok(first) = waiting.recv() else { return };
        let others = std::iter::from_fn(|| waiting.try_recv().ok());
        for request in std::iter::once(first).chain(others) {
            batch.extend(&request.batch);
            requests.push(request);
            if batch.len() >= net.batch() {
                break;
            }
        }
        drop(waiting);
        lock(used).begin();
        net.evaluate(&batch, &mut logits);
        lock(used).end();
        let mut start = 0;
        for Request { batch, answer } in requests.drain(..) {
            let rows = start..start + batch.len();
            start = rows.end;
            // A thread that panicked no longer waits.
            let _ = answer.send(logits.part(rows));
        }
    }
}

impl Used {
    fn begin(&mut self) {
        if self.in_flight == 0 {
            self.since = Some(Instant::now());
        }
        self.in_flight += 1;
    }

    fn end(&mut self) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.busy += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
