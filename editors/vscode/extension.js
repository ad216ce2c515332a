// Starts `occurs lsp` for files of rules, and starts it again when its settings change.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const { contributes } = require("./package.json");

/** @type {LanguageClient | undefined} */
let client;

/** The command with its arguments, with `${workspaceFolder}` filled in. */
function command() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const words = vscode.workspace.getConfiguration("occurs").get("command", ["occurs"]);
  return words.map((word) => word.replaceAll("${workspaceFolder}", folder));
}

async function start() {
  const [program, ...given] = command();
  const server = { command: program, args: [...given, "lsp"], transport: TransportKind.stdio };
  const options = {
    documentSelector: contributes.languages.flatMap(({ id }) => [
      { scheme: "file", language: id },
      { scheme: "untitled", language: id },
    ]),
    synchronize: {
      fileEvents: vscode.workspace.createFileSystemWatcher("**/{studio.json,*.{epl,esql,ftl,phen,ptl,sql,tesla}}"),
    },
  };
  client = new LanguageClient("occurs", "Occurs", server, options);
  try {
    await client.start();
  } catch (error) {
    const text = `The language server of Occurs does not start: ${error.message ?? error}`;
    vscode.window.showErrorMessage(`${text}. Install it with: pip install "occurs[lsp]", or set occurs.command.`);
  }
}

async function stop() {
  const ending = client;
  client = undefined;
  if (ending?.isRunning()) await ending.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("occurs.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("occurs.command")) restart();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
