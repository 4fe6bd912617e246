// The dialog of one judged run, whose address may also name a message (#run=…&at=7); starts everything.

class ReachDialog extends RunDialog {
  setUpControls() {}

  showControls() {}

  addressed() {
    if (!location.hash.startsWith(HASH)) return null;
    try {
      return this.index.numberOf.get(decodeURIComponent(location.hash.slice(HASH.length).split("&")[0]));
    } catch {
      return undefined;
    }
  }

  async followAddress() {
    await super.followAddress();
    const message = /&at=(\d+)$/.exec(location.hash);
    if (this.view !== null && message) goToMessage(Number(message[1]));
  }

  content() {
    return reachContent(this.view, this.index, this.current);
  }
}

setUpChoice();
await startBrowser(ReachList, ReachDialog, preparedRuns);
