// The dialog to share a game: links, the position as text, a picture, and the record, which can also be loaded here.

import { linkTo, readLink } from "./address.js";
import { indexOf } from "./kept.js";
import { element } from "./panels.js";
import { text, words } from "./texts.js";

const $ = (id) => document.getElementById(id);
const MOST_BYTES = 4 * 1024 * 1024; // of a file with records; only its last line is sent

// Saves a text as a file of the person's.
export function save(content, kind, name) {
  const address = URL.createObjectURL(new Blob([content], { type: kind }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The record of a text, which may have a link to it; the problem is told if the link cannot be read.
function recordOf(content) {
  const [hash] = /#game=\S*/.exec(content) ?? [];
  if (!hash || content.includes("{")) return { record: content };
  try {
    return readLink(hash);
  } catch (error) {
    return { problem: text("link_wrong", { reason: text("link_unreadable", { part: error.message }) }) };
  }
}

// Copies the text of a field; the message says so.
export async function copyFrom(field, message) {
  field.select();
  // Browsers allow the clipboard on this machine and over HTTPS only; elsewhere the text stays selected.
  const done = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
  message.textContent = text(done ? "copied" : "copy_by_hand");
}

export class Share {
  // `page` has fetchText(path), view() and seen(), load(record, place), and here(path), the path to something about the position shown.
  constructor(page) {
    this.page = page;
    const message = $("record-message");
    $("record-open").onclick = () => this.open();
    for (const name of ["link-game", "link-place", "position"]) $(`${name}-copy`).onclick = () => copyFrom($(`${name}-text`), message);
    $("record-copy").onclick = () => copyFrom($("record-text"), message);
    $("record-load").onclick = () => this.load($("record-text").value);
    $("record-save").onclick = () => save($("record-text").value, "application/json", this.name("jsonl"));
    $("picture-save").onclick = () => this.savePicture().catch((error) => this.complain(error));
    $("record-upload").onclick = () => $("record-file").click();
    $("record-file").onchange = (event) => this.upload(event.target);
  }

  async open() {
    const [view, seen] = [this.page.view(), this.page.seen()];
    const record = JSON.parse(view.record);
    const position = { game: record.game, position: seen.position, max_plies: record.max_plies, moves: [] };
    $("link-game-text").value = linkTo(record, indexOf(view), words.plies);
    $("link-place-text").value = linkTo(position, 0, words.plies);
    $("position-text").value = seen.position;
    $("record-text").value = await this.page.fetchText("/api/record");
    $("record-message").textContent = "";
    $("record-box").showModal();
  }

  name(ending) {
    const { game, moves } = this.page.view();
    return `${game}-${moves.length}.${ending}`;
  }

  async load(content) {
    const { record, place, problem } = recordOf(content);
    if (problem) return ($("record-message").textContent = problem);
    try {
      if (await this.page.load(record, place)) $("record-box").close();
    } catch (error) {
      this.complain(error);
    }
  }

  async savePicture() {
    save(await this.page.fetchText(this.page.here("/api/picture")), "image/svg+xml", this.name("svg"));
  }

  complain(error) {
    $("record-message").textContent = error.status ? error.message : text("connection_lost");
  }

  // Loads the last game of a file.
  async upload(input) {
    const [file] = input.files;
    input.value = ""; // the same file can be chosen again
    if (!file) return;
    const content = file.size > MOST_BYTES ? "" : await file.text();
    await this.load(content.trim().split("\n").at(-1));
  }
}
