// The texts of the page in the language chosen, and the sentences about a view. Knows nothing of the document.

export let words = null; // the answer of /api/texts

export function useWords(answer) {
  words = answer;
}

export function text(key, values = {}) {
  let found = words.texts[key] ?? key.replace(/^(game|piece|strong)_/, ""); // a custom game has only its name
  for (const [name, value] of Object.entries(values)) found = found.replaceAll(`{${name}}`, value);
  return found;
}

// The rules of a game, in its own words if the page has none; and its aim, the line under their first heading.
export const rulesOf = (game) => words.texts.rulebook[game] ?? words.rules[game] ?? undefined;
export const aimOf = (game) => (rulesOf(game) ?? "").trim().split("\n")[1] ?? "";

// White or Black, unless the game has its own words.
export const playerName = (player, game) => words.texts[`${player}_${game}`] ?? text(player);

export function seatName(who) {
  if (who === "human" || who === "friend") return text(who);
  return words.levels.some(({ name }) => name === who) ? text(`level_${who}`) : who;
}

// A player with the rating in a game, if it was measured.
export function levelName(who, game) {
  const rating = words.levels.find(({ name }) => name === who)?.ratings[game];
  return rating === undefined ? seatName(who) : `${seatName(who)} (${rating})`;
}

// A move with its number, `3. A1-C2` for White and `3… C5-B3` for Black.
export const numbered = ({ number, player, text: move }) => `${moveNumber({ number, player })} ${move}`;
export const moveNumber = ({ number, player }) => `${number}${player === "white" ? "." : "…"}`;

// The move before a place; 0 at the start.
export const moveBefore = (view, place) => (place > 0 && view.moves[place - 1] ? numbered(view.moves[place - 1]) : "0");

// Where in the game someone looks back to.
export const lookedBack = (view, place) => (place > 0 ? text("looking_back", { n: moveBefore(view, place) }) : text("editor_start"));

export const count = (number) => number.toLocaleString(words.language, { notation: "compact", maximumSignificantDigits: 3 });
export const percent = (share) => share.toLocaleString(words.language, { style: "percent" });
export const chance = (value) => percent((value + 1) / 2); // White's value as a share

// The side of the only person, or null.
export function personOf(seats) {
  const people = ["white", "black"].filter((_, index) => seats[index] === "human");
  return people.length === 1 ? people[0] : null;
}

// Who won a game, with the score from the side of the only person, or of White.
export function result(game, outcome, seats) {
  const person = personOf(seats);
  let words = text("draw");
  if (outcome.truncated) words = text("cut_off");
  else if (outcome.winner && person) words = text(outcome.winner === person ? "you_win" : "you_lose");
  else if (outcome.winner) words = text("wins", { player: playerName(outcome.winner, game) });
  if (!outcome.score || outcome.truncated) return words;
  const [first, second] = person === "black" ? outcome.score.toReversed() : outcome.score;
  return `${words}, ${first} : ${second}`;
}

// How far the search at the place shown has come, and whether it goes on.
export function searched({ analysing, deepening, deeper, thought }) {
  if (!analysing || !thought) return "";
  return text(deepening && deeper ? "searching_on" : "searched", { n: count(thought.nodes) });
}

export function status(view) {
  const { outcome, to_move: mover } = view.scene;
  if (outcome) return result(view.game, outcome, view.seats);
  return text(view.thinking ? "thinking" : "to_move", { player: playerName(mover, view.game) });
}

export function certain(proven, game) {
  if (!proven) return null;
  if (!proven.winner) return text("surely_draw");
  const player = playerName(proven.winner, game);
  if (proven.plies === null) return text("surely_wins", { player });
  return proven.plies === 1 ? text("wins_in_one", { player }) : text("wins_in", { player, n: proven.plies });
}

// How a game of two ended by resignation, agreement or time.
function ending({ game, duel: { ended } }) {
  if (!ended.winner) return text("end_agreed");
  return text(ended.by_time ? "end_time" : "end_resigned", { player: playerName(ended.winner === "white" ? "black" : "white", game) });
}

// The score of a match, by the sides of the game shown. The match has the points of the first game once the second begins.
function score({ game, record, match }) {
  const { outcome } = JSON.parse(record);
  const won = (player) => (!outcome.winner ? 1 : outcome.winner === player ? 2 : 0);
  const points = match.game === 1 && outcome ? outcome.score ?? ["white", "black"].map(won) : match.points;
  const [white, black] = match.game === 1 ? points : points.toReversed();
  const [first, second] = [`${playerName("white", game)} ${white}`, `${black} ${playerName("black", game)}`];
  return text(match.over ? "match_over" : "match_score", { game: match.game, first, second });
}

export function notes(view) {
  const lines = view.duel?.ended ? [ending(view)] : [];
  lines.push(...view.scene.notes.map((note) => text(note.key, { player: note.player ? playerName(note.player, view.game) : "", what: note.what })));
  if (view.match) lines.push(score(view));
  if (view.evaluating || view.analysing) {
    if (view.known) lines.push(text("by_tables", { result: certain(view.known, view.game) }));
    else if (view.thought?.proven && !view.scene.outcome) lines.push(certain(view.thought.proven, view.game));
  }
  if (view.analysing) {
    if (view.unstudied > 0) lines.push(text("analysing", { n: view.unstudied }));
    const judged = view.assessments.filter((one) => one.mistake !== null);
    if (judged.length) {
      const mistakes = (player) => judged.filter((one) => one.player === player && one.mistake).length;
      lines.push(text("mistakes", { white: mistakes("white"), black: mistakes("black") }));
    }
    const before = view.assessments[view.cursor - 1];
    if (before?.mark) lines.push(`${before.text} ${text("lost", { mark: before.mark, lost: percent(before.lost / 2), best: before.best })}`);
  }
  return lines;
}

// How many moves of each player have which mark.
export function analysed(view) {
  const marks = (player) => ["?!", "?", "??"].map((mark) => `${mark} ${view.assessments.filter((one) => one.player === player && one.mark === mark).length}`).join(", ");
  const names = { first: playerName("white", view.game), second: playerName("black", view.game) };
  return text("analysed", { ...names, white: marks("white"), black: marks("black") });
}

const cellName = (view, cell) => view.layout.cells[cell].name;
const pieceAt = (view, cell) => view.scene.pieces.find((piece) => piece.cell === cell);
const pieceName = (view, piece) => piece.letter ?? text(`${piece.strong ? "strong" : "piece"}_${view.game}`);

// Whether a move puts back a captured piece: a placement in a game whose pieces otherwise move along lines.
export const isRedeploy = (view, move) => move !== null && view.layout.style === "board" && move.from === null && move.to !== null;

// The move between two views in words.
export function said(before, view) {
  const player = playerName(before.scene.to_move, view.game);
  if (view.drawing !== null) return `${player}: ${view.moves[view.cursor - 1].text}`;
  const { last } = view.scene;
  if (last.to === null) return text("said_pass", { player });
  const to = cellName(view, last.to);
  if (isRedeploy(view, last)) {
    const lost = before.scene.pieces.find((piece) => piece.strong && piece.player === before.scene.to_move && pieceAt(view, piece.cell)?.strong === false);
    const parts = [text("said_redeploy", { player, to })];
    if (lost) parts.push(text("said_unmarked", { cell: cellName(view, lost.cell) }));
    return parts.join(" ");
  }
  const piece = pieceName(view, pieceAt(view, last.to));
  if (last.from === null) return text("said_place", { player, piece, to });
  const from = cellName(view, last.from);
  if (last.captured === null) return text("said_move", { player, piece, from, to });
  return text("said_capture", { player, piece, from, to, on: cellName(view, last.captured) });
}

export function saidPicked(view, cell, targets) {
  const names = targets.map((target) => cellName(view, target)).join(", ");
  return text("said_picked", { piece: pieceName(view, pieceAt(view, cell)), cell: cellName(view, cell), targets: names });
}

export function cellLabel(view, cell, state) {
  const name = cellName(view, cell);
  const piece = pieceAt(view, cell);
  const parts = [piece ? text("piece_on", { cell: name, player: playerName(piece.player, view.game), piece: pieceName(view, piece) }) : text("empty_cell", { cell: name })];
  if (state.redeploy) parts.push(text("redeploy_here"));
  else if (state.target) parts.push(text("target"));
  else if (state.forbidden) parts.push(text("forbidden_here"));
  else if (state.source) parts.push(text("may_go"));
  if (state.last) parts.push(text("last_move"));
  return parts.join(", ");
}
