// One opened run: verdicts first, then the messages with what each of them proves beside it.

const MAX_CITED = 8;
const USES = {
  flow: "its value was used", decides: "it decided what came next", said: "it was said", final: "it is the final state",
};
/** Diagnoses that are no fault in themselves → the colour of their chip. */
const MILD = { recovery: "pos", detour: "zero" };
const TONES = { reached: "r", touched: "t", missed: "m", "n/a": "n", unscorable: "u" };

/** All of a run, ready to be put into the dialog. */
function reachContent(view, index, run) {
  const marks = marksByMessage(view);
  const messages = view.messages.flatMap((message) => [gapBefore(view, message), reachMessage(message, marks)]);
  return make("div", {},
    make("dl", { class: "facts" }, make("div", {}, make("dt", {}, "Chain"), make("dd", {}, breakChip(index, index.runs.broken[run]))),
      view.facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
    questionBlock(view.question),
    make("section", { class: "glance" }, make("h3", {}, "Milestones"), make("ol", { class: "stands" }, view.milestones.map((one) => milestoneLine(view, one)))),
    foundBlock(view), notesBlock(view),
    view.messages.length ? make("div", { class: "messages" }, messages) : make("p", { class: "note" }, "The log of this run was not given, so its messages are not shown."));
}

/** Message index → what the rules say of it: milestones touched and reached, diagnoses, and what it is cited for. */
function marksByMessage(view) {
  const marks = new Map();
  const at = (index) => marks.get(index) ?? marks.set(index, { stands: [], found: [], cited: [] }).get(index);
  for (const one of view.milestones) {
    if (one.touched !== null) at(one.touched).stands.push([one, "touched"]);
    if (one.reached !== null) at(one.reached).stands.push([one, "reached"]);
    cite(at, one.evidence, one.name);
  }
  for (const one of view.diagnoses) {
    at(one.batch).found.push(one);
    cite(at, one.evidence, one.words, one.batch);
  }
  return marks;
}

/** Notes a piece of evidence at the messages that it names. */
function cite(at, evidence, what, shown = null) {
  for (const one of evidence) {
    for (const index of new Set([one.index, one.source])) {
      if (index !== null && index !== shown) at(index).cited.push({ what, sentence: one.what });
    }
  }
}

function milestoneLine(view, one) {
  const said = {
    reached: ["reached", USES[one.used]], touched: ["touched only", one.reason],
    missed: ["missed", one.reason], "n/a": ["does not apply", null], unscorable: ["cannot be said", null],
  }[one.standing];
  const places = [["touched in", one.touched], ["holds in", one.source], ["used in", one.reached]]
    .filter(([, index]) => index !== null).map(([words, index]) => make("span", {}, `${words} `, toMessage(view, index)));
  return make("li", {}, make("i", { class: `stand ${TONES[one.standing]}`, "aria-hidden": "true" }),
    make("div", {},
      make("p", { class: "stand-head" }, make("b", {}, one.name), one.title ? make("span", {}, one.title) : null, one.required ? null : make("span", { class: "quiet" }, "optional"),
        make("span", { class: "quiet" }, said.filter(Boolean).join(", ").replaceAll("_", " ")), make("span", { class: "places" }, places)),
      proofs(view, one.evidence)));
}

/** A message's number that leads to it; plain text where it is not shown. */
function toMessage(view, index) {
  if (!view.messages.some((message) => message.index === index)) return make("span", { class: "quiet" }, `message ${index}`);
  const button = make("button", { type: "button", class: "to-message" }, `message ${index}`);
  button.addEventListener("click", () => goToMessage(index));
  return button;
}

function goToMessage(index) {
  const message = document.getElementById(`message-${index}`);
  if (!message) return;
  message.scrollIntoView({ block: "start" });
  message.classList.add("pointed");
  message.addEventListener("animationend", () => message.classList.remove("pointed"), { once: true });
}

function proofs(view, evidence) {
  if (!evidence.length) return null;
  return make("ul", { class: "proofs" }, evidence.map((one) => make("li", {}, one.what, " ", toMessage(view, one.index))));
}

function foundBlock(view) {
  if (!view.diagnoses.length && !view.missing.length) return null;
  const found = view.diagnoses.map((one) => make("li", {},
    make("p", { class: "stand-head" }, make("b", {}, one.words), one.kind ? make("span", { class: "quiet" }, one.kind.replaceAll("_", " ")) : null, toMessage(view, one.batch)),
    proofs(view, one.evidence)));
  const missing = view.missing.map((one) => make("li", {}, make("p", { class: "stand-head" },
    make("b", {}, `missing: ${one.fact}`), `the agent ${{ other: "does something else" }[one.response] ?? one.response}`, one.batch === null ? null : toMessage(view, one.batch))));
  const more = view.more_diagnoses ? make("p", { class: "note" }, `${count(view.more_diagnoses, "further diagnosis", "further diagnoses")} left out.`) : null;
  return make("section", { class: "glance" }, make("h3", {}, "Found"), make("ul", { class: "stands plain-list" }, found, missing), more);
}

function notesBlock(view) {
  if (!view.notes.length) return null;
  return make("section", { class: "glance" }, make("h3", {}, "Notes"), make("ul", { class: "proofs" }, view.notes.map((note) => make("li", {}, note))));
}

function gapBefore(view, message) {
  if (!view.skipped || message.index !== view.skipped[0] + view.skipped[1]) return null;
  return make("p", { class: "note" }, `${count(view.skipped[0], "message")} of this long run are left out here.`);
}

function reachMessage(message, marks) {
  const own = marks.get(message.index);
  const element = message.role === "assistant" ? assistantCard(message, own) : otherMessage(message, message.index);
  element.id = `message-${message.index}`;
  const cited = message.role !== "assistant" && own ? citedBlock(own) : null;
  if (cited) element.append(cited);
  return element;
}

function assistantCard(message, own) {
  const text = messageText(message);
  const faults = own?.found.some((one) => !(one.name in MILD));
  return make("article", { class: `message step ${faults ? "faulty" : ""} ${own ? "" : "unmarked"}` },
    messageHead("Assistant", message.index),
    make("div", { class: "step-body" }, text.childElementCount ? text : make("p", { class: "empty" }, "empty message"),
      own ? make("aside", { class: "verdicts", "aria-label": `Verdicts of message ${message.index}` }, standsBlock(own), foundHere(own), citedBlock(own)) : null));
}

function standsBlock(own) {
  return own.stands.map(([one, event]) => make("p", { class: "stand-here" },
    make("i", { class: `stand ${event === "reached" ? "r" : "t"}`, "aria-hidden": "true" }), make("b", {}, one.name),
    event === "reached" ? ["reached", USES[one.used]].filter(Boolean).join(": ") : "touched"));
}

function foundHere(own) {
  return own.found.map((one) => make("div", { class: "verdict" },
    make("div", { class: "verdict-head" }, make("span", { class: `chip ${MILD[one.name] ?? "neg"}` }, one.name.replaceAll("_", " ")), make("span", { class: "who" }, one.words)),
    one.evidence.map((evidence) => make("p", { class: "why" }, evidence.what))));
}

/** What this message is evidence for, beyond what is said of it already. */
function citedBlock(own) {
  const said = new Set(own.found.flatMap((one) => one.evidence.map((evidence) => evidence.what)));
  const cited = new Map(own.cited.filter(({ sentence }) => !said.has(sentence)).map((one) => [one.sentence, one]));
  if (!cited.size) return null;
  const shown = [...cited.values()].slice(0, MAX_CITED);
  return make("div", { class: "cited" }, shown.map((one) => make("p", {}, make("b", {}, `${one.what}: `), one.sentence)),
    cited.size > MAX_CITED ? make("p", { class: "quiet" }, `and ${cited.size - MAX_CITED} more`) : null);
}
