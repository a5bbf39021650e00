// The address of the page: after # it may have a game, a position, or an invitation. Knows nothing of the document.
//
// `#game=jarmo&moves=A1-C2,A5-B3` is a game, `#game=jarmo&from=TEXT` a position, with `_` for the spaces of its text;
// `max=PLIES` is a limit on the length other than the usual one, and `at=N` the number of moves before the position shown.

// The link to a record; `plies` has the usual limits on the length, by game.
export function linkTo(record, place, plies) {
  const parts = [`game=${record.game}`];
  if (record.position) parts.push(`from=${record.position.replaceAll(" ", "_")}`);
  if (record.max_plies !== undefined && record.max_plies !== plies[record.game]) parts.push(`max=${record.max_plies}`);
  if (record.moves.length) parts.push(`moves=${record.moves.join(",")}`);
  if (place < record.moves.length) parts.push(`at=${place}`);
  return `${location.origin}${location.pathname}#${parts.join("&")}`;
}

// The game in the part of an address after #: {record, place}; null if it names none, and an error if it cannot be read.
export function readLink(hash) {
  if (!hash.startsWith("#game=")) return null;
  const parts = new Map();
  for (const part of hash.slice(1).split("&")) {
    const [name, ...rest] = part.split("=");
    if (!["game", "from", "max", "moves", "at"].includes(name) || parts.has(name)) throw new Error(part);
    parts.set(name, decoded(rest.join("=")));
  }
  const number = (name) => {
    const value = parts.get(name);
    if (value !== undefined && !/^\d{1,9}$/.test(value)) throw new Error(`${name}=${value}`);
    return value === undefined ? undefined : Number(value);
  };
  const moves = parts.get("moves");
  const record = { game: parts.get("game"), position: parts.get("from")?.replaceAll("_", " "), max_plies: number("max"), moves: moves ? moves.split(",") : [] };
  return { record: JSON.stringify(record), place: number("at") };
}

// Programs that pass links on may write some signs as %40.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(text);
  }
}

// The name of the game that the address invites to; null if it does not.
export const invitation = (hash) => /^#join=([0-9a-f]{32})$/.exec(hash)?.[1] ?? null;

export const invitationTo = (key) => `${location.origin}${location.pathname}#join=${key.split(".")[0]}`;
