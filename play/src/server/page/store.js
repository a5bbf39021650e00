// What the browser keeps for this page. Where it keeps nothing, because its storage is blocked or full, this tab does.

const here = new Map();

// `localStorage` itself is an error where it is blocked.
function attempt(work) {
  try {
    return work(window.localStorage) ?? null;
  } catch {
    return null;
  }
}

export const store = {
  getItem: (name) => here.get(name) ?? attempt((kept) => kept.getItem(name)),
  // Returns whether the browser keeps it.
  setItem(name, text) {
    here.set(name, text);
    return attempt((kept) => {
      kept.setItem(name, text);
      return here.delete(name);
    }) ?? false;
  },
  removeItem(name) {
    here.delete(name);
    attempt((kept) => kept.removeItem(name));
  },
};

// What another page of this tab has handed over to this one. A second call finds nothing.
export function handedOver(name) {
  try {
    const text = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    return text;
  } catch {
    return null;
  }
}
