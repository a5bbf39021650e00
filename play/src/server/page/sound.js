// The sounds of moves. They are off at first where people touch the screen.

import { store } from "./store.js";

const button = document.getElementById("sound");
const touched = matchMedia("(pointer: coarse)");
let audio = null;

const hasSound = () => (store.getItem("sound") ?? (touched.matches ? "off" : "on")) === "on";

export function prepareSound() {
  button.onclick = () => {
    store.setItem("sound", hasSound() ? "off" : "on");
    button.setAttribute("aria-pressed", hasSound());
    wake();
  };
  button.setAttribute("aria-pressed", hasSound());
  for (const name of ["pointerup", "keydown"]) addEventListener(name, wake, true);
}

// Browsers let a page be heard once someone has touched it; Safari only if it asks during the touch.
function wake() {
  if (!hasSound()) return;
  audio ??= new AudioContext();
  if (audio.state !== "running") audio.resume().catch(() => {}); // the next touch tries again
}

// A tone that fades away: hertz, and seconds from now on.
function tone(frequency, begin, length, loudness, shape = "sine") {
  const [source, volume] = [audio.createOscillator(), audio.createGain()];
  const start = audio.currentTime + begin;
  source.type = shape;
  source.frequency.setValueAtTime(frequency, start);
  volume.gain.setValueAtTime(loudness, start);
  volume.gain.exponentialRampToValueAtTime(.001, start + length);
  source.connect(volume).connect(audio.destination);
  source.start(start);
  source.stop(start + length);
}

// The sound of the move that led to a scene: a knock, two for a capture, and a chord at the end.
export function sound({ last, outcome }) {
  if (!hasSound() || audio?.state !== "running") return;
  const knock = (begin, pitch) => {
    tone(pitch, begin, .09, .3, "triangle");
    tone(pitch * 2.7, begin, .03, .12);
  };
  knock(0, 190);
  if (last && last.captured !== null) knock(.07, 120);
  if (outcome) [262, 330, 392].forEach((pitch, place) => tone(pitch, .15 + .09 * place, .9, .1));
}
