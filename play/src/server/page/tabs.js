// The other tabs of this browser that show the same session.

// Null where the browser blocks it, as it does all that tabs share.
function openChannel() {
  try {
    return new BroadcastChannel("play");
  } catch {
    return null;
  }
}

export class Tabs {
  // `changed()` is called when another tab comes or goes.
  constructor(changed) {
    this.id = Math.random();
    this.session = null;
    this.others = new Set();
    this.channel = openChannel();
    this.channel?.addEventListener("message", ({ data: { id, session, asks } }) => {
      const before = this.others.size;
      if (session !== null && session === this.session) this.others.add(id);
      else this.others.delete(id);
      if (asks) this.tell(false);
      if (this.others.size !== before) changed();
    });
    addEventListener("pagehide", () => this.enter(null));
    addEventListener("pageshow", (event) => event.persisted && this.enter(this.left));
  }

  // Tells the others which session is shown here.
  enter(session) {
    if (session === this.session) return;
    this.left = this.session;
    this.session = session;
    this.others.clear();
    this.tell(true);
  }

  tell(asks) {
    this.channel?.postMessage({ id: this.id, session: this.session, asks });
  }
}
