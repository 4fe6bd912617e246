// The last of the scripts: the browser of gold and judges.

await startBrowser(RunList, RunDialog, prepared);
