// The games that this browser keeps: finished ones, and those that were left for another.

import { store } from "./store.js";

const NAME = "games";
const MOST = 60;
const LAST = 1e9; // past every index: the end of the main line

// The name of a game: the session it was played in and its number there.
export const gameKey = (view) => `${view.session}-${view.number}`;

export const sessionOf = ({ key }) => key.split("-")[0];

// What this browser keeps under a name, `empty` if that is nothing. What `isRight` does not take is set aside, so that
// the page works without it.
export function stored(name, isRight, empty) {
  const source = store.getItem(name);
  if (source === null) return empty;
  try {
    const value = JSON.parse(source);
    if (isRight(value)) return value;
  } catch {
    // It is no JSON.
  }
  setAside(name, source);
  return empty;
}

function setAside(name, source) {
  if (store.setItem(`${name}-unreadable`, source)) store.removeItem(name);
}

const isText = (value) => typeof value === "string";

function isGame(game) {
  try {
    const { game: name, moves } = JSON.parse(game.record);
    const texts = [game.key, name, ...moves, ...game.seats];
    return texts.every(isText) && game.seats.length === 2 && Number.isFinite(game.at) && Number.isInteger(game.place);
  } catch {
    return false;
  }
}

// The games, newest first: {key, at, record, seats, place, match, values, live}. `place` is the index of the position shown in
// the text of the record. Of a game of two, `live` is the key of the seat.
export function keptGames() {
  const games = stored(NAME, Array.isArray, []);
  const good = games.filter(isGame);
  if (good.length < games.length) {
    setAside(NAME, JSON.stringify(games));
    write(good);
  }
  return good;
}

const write = (games) => store.setItem(NAME, JSON.stringify(games.slice(0, MOST)));

// The number of moves in the text of the record up to the position shown.
export const indexOf = (view) => view.tree.findIndex(({ node }) => node === view.line[view.cursor]) + 1;

// Whether something would be lost with a game: moves, a position that was set up, or a seat.
export function isKept(view) {
  if (view.duel) return view.duel.you !== null;
  return view.tree.length > 0 || JSON.parse(view.record).position !== undefined;
}

// Keeps the game of a view as it is now.
export function keep(view) {
  if (!isKept(view)) return;
  const key = gameKey(view);
  const games = keptGames();
  const known = games.find((game) => game.key === key);
  const game = { key, at: Date.now(), record: view.record, seats: view.seats, place: indexOf(view), match: view.match };
  if (view.duel) game.live = view.session;
  else game.values = [view.values[0], ...view.tree.map(({ value }) => value)];
  if (known && JSON.stringify({ ...known, at: 0 }) === JSON.stringify({ ...game, at: 0 })) return;
  if (known && !replaces(game.record, known.record)) {
    known.key = `${key}-${known.at}`;
    known.place = LAST;
  }
  // What was left for another move, and is back as it was, is not kept twice.
  const isCopy = (other) => other.key.startsWith(`${key}-`) && other.record === game.record;
  write([game, ...games.filter((other) => other.key !== key && !isCopy(other))]);
}

// Whether a record takes the place of another: not that of a finished game which was left for another move.
function replaces(record, known) {
  const [next, before] = [JSON.parse(record), JSON.parse(known)];
  return !before.outcome || before.moves.every((move, place) => next.moves[place] === move);
}

export function forget(key) {
  write(keptGames().filter((game) => game.key !== key));
}
