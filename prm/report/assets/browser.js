// The dialog that shows one run, and the address (#run=…) that names it.

class RunDialog {
  constructor(list) {
    this.list = list;
    this.index = list.index;
    this.dialog = at("run");
    this.current = null; // a run's number; null: closed; undefined: the address names no run of this report
    this.view = null;
    this.arrivedByClick = false;
    this.setUpControls();
    this.listen();
  }

  setUpControls() {
    const { judge } = this.list.form;
    at("run-judge").replaceChildren(...[...judge.options].map((option) => option.cloneNode(true)));
    at("run-judge").parentElement.hidden = judge.parentElement.hidden;
    at("run-judge").addEventListener("change", () => this.chooseJudge(at("run-judge").value));
  }

  listen() {
    at("runs").addEventListener("click", (event) => {
      const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
      if (!elsewhere && event.target.closest("a.run")) this.arrivedByClick = true;
    });
    at("run-previous").addEventListener("click", () => this.go(-1));
    at("run-next").addEventListener("click", () => this.go(1));
    at("run-close").addEventListener("click", () => this.leave());
    this.dialog.addEventListener("cancel", (event) => { event.preventDefault(); this.leave(); });
    this.dialog.addEventListener("close", () => this.closed());
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.leave(); });
    this.dialog.addEventListener("keydown", (event) => this.pressed(event));
    window.addEventListener("hashchange", () => this.followAddress());
  }

  // The address

  /** The run that the address names: its number, null where it names none, undefined where there is no such run. */
  addressed() {
    if (!location.hash.startsWith(HASH)) return null;
    try {
      return this.index.numberOf.get(decodeURIComponent(location.hash.slice(HASH.length)));
    } catch {
      return undefined;
    }
  }

  async followAddress() {
    const run = this.addressed();
    if (run === null) this.hide();
    else await this.show(run);
  }

  /** To another run, without a step that the back button would go through. */
  go(direction) {
    const run = this.neighbour(direction);
    if (run !== undefined) location.replace(this.list.address(run));
  }

  /** Back to where the reader came from, so that the back button never opens again what was closed. */
  leave() {
    if (this.arrivedByClick) history.back();
    else location.replace("#trajectories");
  }

  /** The browser may close a dialog without asking; the event comes late, when a run may be open again. */
  closed() {
    if (this.current !== null && !this.dialog.open) this.leave();
  }

  // What is shown

  async show(run) {
    this.current = run;
    if (!this.dialog.open) this.dialog.showModal();
    this.showControls();
    at("run-title").textContent = run === undefined ? "No such run" : this.index.runs.key[run];
    at("run-body").replaceChildren();
    this.showPlace();
    this.view = run === undefined ? null : await unpack(`run-${run}`);
    if (this.current !== run) return; // the reader has gone on in the meantime
    this.showView();
    at("run-body").scrollTop = 0;
    at("run-title").focus({ preventScroll: true });
  }

  showControls() {
    at("run-judge").value = this.list.form.judge.value;
  }

  showPlace() {
    const { found } = this.list;
    const place = found.indexOf(this.current);
    at("run-place").textContent = place < 0 ? "" : `${(place + 1).toLocaleString("en")} of ${count(found.length, "run")}`;
    at("run-previous").disabled = this.neighbour(-1) === undefined;
    at("run-next").disabled = this.neighbour(1) === undefined;
  }

  showView() {
    const content = this.current === undefined
      ? make("p", { class: "note" }, "The address names a run that is not in this report.")
      : this.content();
    at("run-body").replaceChildren(content);
  }

  /** The opened run as an element. */
  content() {
    const { runs, questions, sources, agents, judges } = this.index;
    const run = this.current;
    return runContent(this.view, {
      names: judges, judge: this.list.wanted.judge, source: sources[runs.source[run]],
      agent: agents[runs.agent[run]], question: questions[runs.question[run]],
    });
  }

  hide() {
    this.current = null;
    this.view = null;
    this.arrivedByClick = false;
    at("run-body").replaceChildren();
    if (this.dialog.open) this.dialog.close();
  }

  /** The run before or after this one in the list; after a run that is not in the list comes the first. */
  neighbour(direction) {
    const place = this.list.found.indexOf(this.current);
    return place < 0 && direction < 0 ? undefined : this.list.found[place + direction];
  }

  // What the reader does

  chooseJudge(value) {
    this.list.chooseJudge(value);
    this.showPlace();
    if (this.current !== undefined && this.view !== null) this.showView();
  }

  pressed(event) {
    if (event.target.closest("select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") this.go(1);
    if (event.key === "k") this.go(-1);
  }
}

/** Unpacks the index, shows the list and follows the address. */
async function startBrowser(List, Dialog, prepare) {
  if (!("DecompressionStream" in window)) {
    const text = "This web browser is too old to unpack the runs; any that is kept up to date can.";
    at("browser").replaceChildren(make("p", { class: "note" }, text));
  } else {
    const list = new List(prepare(await unpack("runs-index")));
    at("browser").hidden = false; // before a run opens over it
    await new Dialog(list).followAddress();
  }
  at("browser").hidden = false;
}
