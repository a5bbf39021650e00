// A game of two people: the invitation, and what stands beside the board during such a game.

import { invitationTo } from "./address.js";
import { clockChoices, clockName } from "./clock.js";
import { stored } from "./kept.js";
import { element } from "./panels.js";
import { copyFrom } from "./share.js";
import { store } from "./store.js";
import { playerName, text } from "./texts.js";

const $ = (id) => document.getElementById(id);
const NAME = "duels"; // the keys of own seats, by the name of the game in its link
const MOST = 20;

const keys = () => stored(NAME, (value) => Object.values(value).every((key) => typeof key === "string"), {});

// The key of the own seat in a game, if this browser has one.
export const ownSeat = (name) => keys()[name] ?? null;

// Keeps a key, or with null forgets the one of this game.
export function keepSeat(name, key) {
  const others = Object.entries(keys()).filter(([other]) => other !== name).slice(-MOST);
  store.setItem(NAME, JSON.stringify(Object.fromEntries(key ? [...others, [name, key]] : others)));
}

// The secret with which this browser asks for a seat. It is kept before it is sent: where the answer is lost, the same
// secret gets the same seat.
export function secretFor(name) {
  const known = ownSeat(name)?.split(".")[1];
  const random = crypto.getRandomValues(new Uint8Array(16));
  const secret = known ?? Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  keepSeat(name, `${name}.${secret}`);
  return secret;
}

export class Friend {
  // `page` has view(), send(command), open(opening) and say(message).
  constructor(page) {
    this.page = page;
    this.drawn = "";
    $("invite").onclick = () => {
      $("invite-about").textContent = text("invite_about", { game: text(`game_${page.view().game}`) });
      $("invite-message").textContent = "";
      for (const side of document.querySelectorAll("input[name=invite-side]")) side.nextSibling.textContent = playerName(side.value, page.view().game);
      clockChoices($("invite-clock"));
      $("invite-box").showModal();
    };
    $("invite-make").onclick = () => this.invite();
  }

  async invite() {
    const duel = document.querySelector("input[name=invite-side]:checked").value;
    try {
      if (await this.page.open({ game: this.page.view().game, duel, clock: JSON.parse($("invite-clock").value || "null") })) $("invite-box").close();
    } catch (error) {
      $("invite-message").textContent = error.status ? error.message : text("connection_lost");
    }
  }

  // Draws the panel; it is left alone while nothing in it changes, because a field may be in use.
  show(view) {
    const { duel } = view;
    const panel = $("duel");
    panel.hidden = !duel;
    const wanted = duel ? JSON.stringify([{ ...duel, clock: null }, view.session, view.moves.length > 0, document.documentElement.lang]) : "";
    if (wanted === this.drawn) return;
    this.drawn = wanted;
    panel.replaceChildren(...(duel ? this.content(view) : []));
  }

  content(view) {
    const { duel } = view;
    const line = (content) => element("p", { textContent: content });
    const control = duel.clock ? ` ${clockName(duel.clock)}.` : "";
    if (!duel.you) return [line(text("duel_watch") + control), ...this.afterwards(duel)];
    const friend = duel.you === "white" ? 1 : 0;
    const presence = !duel.joined[friend] ? "friend_awaited" : duel.here[friend] ? "friend_here" : "friend_left";
    const parts = [line(`${text("duel_you", { player: playerName(duel.you, view.game) })} ${text(presence)}${control}`)];
    if (!duel.joined[friend]) parts.push(...this.link(view));
    if (duel.offer) parts.push(...this.offer(duel));
    else if (!duel.over) parts.push(this.actions(view));
    else parts.push(this.row(this.button("rematch", () => this.tell("offer", "rematch"))));
    if (!duel.over) parts.push(element("p", { className: "small", textContent: text("duel_fair") }));
    if (!duel.kept) parts.push(element("p", { className: "small", textContent: text("duel_not_kept") }));
    return [...parts, ...this.afterwards(duel)];
  }

  link(view) {
    const label = element("label", { textContent: text("duel_link"), htmlFor: "duel-link" });
    const field = element("input", { id: "duel-link", readOnly: true, value: invitationTo(view.session) });
    const message = element("p", { className: "small", role: "status" });
    const copy = this.button("copy", () => copyFrom(field, message));
    const parts = [label, element("div", { className: "copied" }, field, copy), message];
    if (/^(localhost|127\.|\[::1\])/.test(location.hostname)) parts.push(element("p", { className: "small", textContent: text("invite_local") }));
    return parts;
  }

  offer({ offer, you }) {
    const mine = offer.by === you;
    const sentence = element("p", { className: "offer", role: "status", textContent: text(`offer_${offer.what}_${mine ? "made" : "got"}`) });
    const decline = this.button(mine ? "withdraw" : "decline", () => this.page.send({ do: "decline" }));
    if (mine) return [sentence, this.row(decline)];
    return [sentence, this.row(this.button("accept", () => this.tell("offer", offer.what)), decline)];
  }

  actions(view) {
    const undo = this.button("offer_undo", () => this.tell("offer", "undo"));
    undo.disabled = !view.moves.some(({ player }) => player === view.duel.you);
    const resign = this.button("resign", () => {
      if (resign.dataset.sure) this.page.send({ do: "resign" });
      resign.dataset.sure = "true";
      resign.textContent = text("resign_sure");
    });
    return this.row(undo, this.button("offer_draw", () => this.tell("offer", "draw")), resign);
  }

  // After the end everyone may analyse a copy of the game.
  afterwards(duel) {
    if (!duel.over) return [];
    return [this.row(this.button("analysis", () => {
      this.page.open({ record: this.page.view().record, analyse: true }).catch((error) => this.page.say(error.message));
    }))];
  }

  tell(what, offer) {
    this.page.send({ do: what, what: offer });
  }

  button(key, act) {
    const button = element("button", { textContent: text(key) });
    button.onclick = act;
    button.dataset.command = key;
    return button;
  }

  row(...buttons) {
    return element("div", { className: "buttons" }, ...buttons);
  }
}
