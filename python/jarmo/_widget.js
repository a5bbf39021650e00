// The widget around the board of the page. jarmo.widget puts board.js, which has the class Board, and STYLE before it.

const CONTROLS = [
  ["first", "First position", "M18 5 L9 12 L18 19 M6 5 V19"],
  ["back", "Previous position", "M15 5 L8 12 L15 19"],
  ["next", "Next position", "M9 5 L16 12 L9 19"],
  ["last", "Last position", "M6 5 L15 12 L6 19 M18 5 V19"],
];

const OWN = `
  :host { display: block; max-width: 30rem; padding: .5rem; background: var(--page); color: var(--ink); font: 15px/1.4 system-ui, sans-serif; border-radius: 10px; }
  .field { max-width: 100%; }
  #board { max-height: 28rem; }
  #status { margin: .4rem 0 0; font-size: 1rem; } #status::before { display: none; } #message { min-height: 1.3em; }
`;

function isDark() {
  const { body, documentElement } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false"; // Jupyter
  if (body.dataset.vscodeThemeKind) return body.dataset.vscodeThemeKind.includes("dark");
  return documentElement.getAttribute("theme") === "dark"; // Colab
}

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function render({ model, el }) {
  const host = element("div", { "data-lm-suppress-shortcuts": "true" }); // the keys of the board are not Jupyter's
  host.dataset.theme = isDark() ? "dark" : "light";
  const root = host.attachShadow({ mode: "open" });
  const svg = make("svg", { id: "board", class: "board", role: "group", "aria-label": "Board" });
  const white = element("div", { id: "bar-white" });
  const share = element("div", { id: "bar-text" });
  const bar = element("div", { id: "bar", role: "img" }, white, share);
  const status = element("p", { id: "status", role: "status" });
  const message = element("p", { id: "message", role: "alert" });
  const button = (text, act) => {
    const node = element("button", { type: "button" }, text);
    node.addEventListener("click", act);
    return node;
  };
  const send = (what) => model.send(what);
  const go = { first: () => 0, back: (cursor) => cursor - 1, next: (cursor) => cursor + 1, last: (_, plies) => plies };
  const steps = CONTROLS.map(([name, label, path]) => {
    const node = button("", () => {
      const { view, plies } = model.get("_shown");
      send({ do: "go", ply: go[name](view.cursor, plies) });
    });
    node.className = "icon";
    node.setAttribute("aria-label", label);
    node.title = label;
    node.append(make("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, make("path", { d: path })));
    return node;
  });
  const pass = button("Pass", () => board.play("pass"));
  const hints = button("Hint", () => send({ do: "hints" }));
  const evaluation = button("Evaluation", () => send({ do: "evaluation" }));
  const flip = button("Flip", () => {
    flipped = !flipped;
    update();
  });
  const again = button("New game", () => send({ do: "new" }));
  root.append(
    element("style", {}, STYLE + OWN),
    element("div", { class: "field" }, bar, svg),
    status,
    message,
    element("div", { class: "buttons step" }, ...steps),
    element("div", { class: "buttons" }, pass, hints, evaluation, flip, again),
  );
  el.append(host);

  let flipped = model.get("_shown").seat === 1;
  const label = (cell, state) => {
    const { scene, layout } = model.get("_shown").view;
    const piece = scene.pieces.find((other) => other.cell === cell);
    const parts = [layout.cells[cell].name, piece && `${piece.strong ? "strong " : ""}${piece.player}`];
    parts.push(state.target && "can be reached", state.picked && "picked");
    return parts.filter(Boolean).join(", ");
  };
  const foreign = () => {
    message.textContent = "The other side is to move.";
  };
  const board = new Board(svg, (text) => send({ do: "play", text }), label, () => {}, foreign);

  function update() {
    const shown = model.get("_shown");
    const { view, plies } = shown;
    host.dataset.game = view.game; // the style sheet has colours for some games
    board.flipped = flipped && !falls(view.layout);
    board.show(view, shown.ideas);
    status.textContent = shown.action ? `${view.cursor}. ${shown.action}. ${shown.status}` : shown.status;
    message.textContent = shown.message;
    const [first, back, next, last] = steps;
    first.disabled = back.disabled = view.cursor === 0;
    next.disabled = last.disabled = view.cursor === plies;
    pass.hidden = !(view.human && view.scene.legal.some((move) => move.text === "pass"));
    flip.hidden = falls(view.layout);
    hints.disabled = view.scene.outcome;
    hints.setAttribute("aria-pressed", shown.hints);
    evaluation.setAttribute("aria-pressed", shown.evaluation !== null);
    bar.hidden = shown.evaluation === null;
    bar.classList.toggle("flipped", board.flipped);
    const percent = Math.round(100 * (shown.evaluation ?? 0));
    white.style.height = `${percent}%`;
    share.textContent = percent;
    bar.setAttribute("aria-label", `White's expected points: ${percent}%`);
  }
  model.on("change:_shown", update);
  update();
  return () => model.off("change:_shown", update);
}

export default { render };
