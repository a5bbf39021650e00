// The address of the page: after # it may have a game, a position, or an invitation. Knows nothing of the document.
//
// `#game=jarmo&moves=A1-C2,A5-B3` is a game, `#game=jarmo&from=TEXT` a position, with `_` for the spaces of its text;
// `max=PLIES` is a move limit other than the usual one, and `at=N` the number of moves in its text up to the position
// shown. A game with variations has their text, `tree=A1-C2_(_B1-D2_)_A5-B3`, in place of its moves.

// Writes the address of the page: a step in the history, or in place of the last one.
export function writeAddress(isStep, entry, address) {
  try {
    history[isStep ? "pushState" : "replaceState"](entry, "", address);
  } catch {
    // Safari throws after 100 changes in 30 seconds. The next change writes the address again.
  }
}

const MARKS = ["!!", "!", "!?", "?!", "?", "??"];

// The main line of the text of a tree.
function mainLine(tree) {
  let depth = 0;
  return tree.replaceAll(/\{[^}]*\}?/g, " ").split(/\s+/).filter((word) => {
    if (word === "(") depth++;
    else if (word === ")") depth--;
    else return word && depth === 0 && !MARKS.includes(word);
    return false;
  });
}

const encoded = (tree) => encodeURIComponent(tree).replaceAll("_", "%5F").replaceAll("%20", "_");

// The part of a link to a record after #; `plies` has the usual move limits, by game.
function partOf(record, at, plies) {
  const parts = [`game=${record.game}`];
  if (record.position) parts.push(`from=${record.position.replaceAll(" ", "_")}`);
  if (record.max_plies !== undefined && record.max_plies !== plies[record.game]) parts.push(`max=${record.max_plies}`);
  if (record.tree) parts.push(`tree=${encoded(record.tree)}`);
  else if (record.moves.length) parts.push(`moves=${record.moves.join(",")}`);
  if (record.tree || at < record.moves.length) parts.push(`at=${at}`);
  return `#${parts.join("&")}`;
}

export const linkTo = (record, at, plies) => `${location.origin}${location.pathname}${partOf(record, at, plies)}`;

// Whether the record of a link is that of a game.
export const isOfRecord = (line, linked, plies) => readLink(partOf(JSON.parse(line), 0, plies)).record === linked;

// The game in the part of an address after #: {record, place}; null if it names none, and an error if it cannot be read.
export function readLink(hash) {
  if (!hash.startsWith("#game=")) return null;
  const parts = new Map();
  for (const part of hash.slice(1).split("&")) {
    const [name, ...rest] = part.split("=");
    if (!["game", "from", "max", "moves", "tree", "at"].includes(name) || parts.has(name)) throw new Error(part);
    const value = rest.join("=");
    parts.set(name, decoded(name === "tree" ? value.replaceAll("_", " ") : value));
  }
  const number = (name) => {
    const value = parts.get(name);
    if (value !== undefined && !/^\d{1,9}$/.test(value)) throw new Error(`${name}=${value}`);
    return value === undefined ? undefined : Number(value);
  };
  const [moves, tree] = [parts.get("moves"), parts.get("tree")];
  const line = tree ? mainLine(tree) : moves ? moves.split(",") : [];
  const record = { game: parts.get("game"), position: parts.get("from")?.replaceAll("_", " "), max_plies: number("max"), moves: line, tree };
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
