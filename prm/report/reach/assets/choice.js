// One agent × variant at a time in the chapters that draw a figure for each; a choice holds for all chapters.

const PER_ARM = /^figure-(chain|stability|grid|first-reach)-(\d+)$/;

/** Section → its figures that belong to one agent × variant each, with the number of it. */
function figuresPerArm() {
  const sections = new Map();
  for (const figure of document.querySelectorAll("main figure")) {
    const found = PER_ARM.exec(figure.id);
    if (!found) continue;
    const section = figure.closest("section");
    if (!sections.has(section)) sections.set(section, []);
    sections.get(section).push({ figure, kind: found[1], arm: Number(found[2]) });
  }
  return sections;
}

function showArm(sections, selects, arm) {
  for (const figures of sections.values()) for (const one of figures) one.figure.hidden = one.arm !== arm;
  for (const select of selects) select.value = String(arm);
  centreChain();
}

/** A graph that is wider than the screen begins in its middle. */
function centreChain() {
  for (const drawing of document.querySelectorAll("[id^=figure-chain-]:not([hidden]) .drawing")) {
    drawing.scrollLeft = (drawing.scrollWidth - drawing.clientWidth) / 2;
  }
}

/** Number → name of each agent × variant: the title of its chain. */
function armNames(sections) {
  const chains = [...sections.values()].flat().filter(({ kind }) => kind === "chain");
  return chains.map(({ figure, arm }) => [arm, figure.querySelector("h3").textContent]);
}

function setUpChoice() {
  const sections = figuresPerArm();
  const names = armNames(sections);
  centreChain();
  if (names.length < 2) return;
  const selects = [];
  for (const [section, figures] of sections) {
    const options = names.map(([arm, name]) => make("option", { value: arm }, name));
    const select = make("select", {}, options);
    select.addEventListener("change", () => showArm(sections, selects, Number(select.value)));
    selects.push(select);
    figures[0].figure.before(make("label", { class: "choice" }, make("span", {}, "Agent / variant"), select));
  }
  showArm(sections, selects, names[0][0]);
  window.addEventListener("beforeprint", () => {
    for (const { figure } of [...sections.values()].flat()) figure.hidden = false;
  });
  window.addEventListener("afterprint", () => showArm(sections, selects, Number(selects[0].value)));
}
