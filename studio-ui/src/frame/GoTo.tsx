/** Ctrl+P: a file or a definition by some letters of its name; or one of several places, by its line. */
import { type KeyboardEvent, type ReactNode, useEffect, useState } from "react";
import type { FileEntry, OutlineEntry } from "../api/types";
import { typeLook } from "../parts/colours";
import { Dialog } from "../parts/Dialog";
import { goTo, openFile, textOf } from "../state/actions";
import { matches } from "../state/matching";
import { type Place, set, typeOrder, useStudio } from "../state/store";
import { texts } from "../texts";
import { takeTypedAhead } from "./ahead";
import { FileIcon } from "./Files";
import { Swatch } from "./Outline";

interface Target {
  id: string;
  icon?: ReactNode;
  name: string;
  detail: string;
  go: () => void;
}

/** A place, shown by its line. */
function targetOf(place: Place, i: number): Target {
  const line = textOf(place.path).split("\n")[place.line - 1] ?? "";
  return {
    id: `place:${i}`,
    name: line.trim(),
    detail: `${place.path}:${place.line}`,
    go: () => void goTo(place),
  };
}

/** Each line once, though the name may stand there twice. */
function lines(places: readonly Place[]): Place[] {
  const seen = new Set<string>();
  return places.filter(({ path, line }) => seen.size !== seen.add(`${path}:${line}`).size);
}

function named(files: FileEntry[], outline: OutlineEntry[], order: readonly string[]): Target[] {
  const { languages } = texts;
  return [
    ...outline.map((entry, i) => ({
      id: `definition:${i}`,
      icon: entry.output ? <Swatch {...typeLook(entry.output, order)} /> : <span className="swatch" />,
      name: entry.name,
      detail: `${entry.file}${entry.span ? `:${entry.span.line}` : ""}`,
      go: () =>
        void goTo({ path: entry.file, line: entry.span?.line ?? 1, column: entry.span?.column ?? 1 }).then(
          () => set({ statement: entry.name }),
        ),
    })),
    ...files.map((file) => ({
      id: `file:${file.path}`,
      icon: <FileIcon kind={file.kind} />,
      name: file.path,
      detail: file.language ? (languages[file.language] ?? file.language) : texts.files.kinds[file.kind],
      go: () => void openFile(file.path),
    })),
  ];
}

export function GoTo() {
  const which = useStudio((state) => state.dialog);
  const places = useStudio((state) => state.places);
  const files = useStudio((state) => state.files);
  const outline = useStudio((state) => state.check.outline);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const takeAhead = () => {
    const letters = takeTypedAhead();
    if (letters) setText((before) => before + letters);
  };
  useEffect(takeAhead, []);
  const close = () => set({ dialog: null });
  const targets =
    which === "places" ? lines(places).map(targetOf) : named(files, outline, typeOrder(useStudio.getState()));
  const found = matches(targets, text).slice(0, 50);
  const chosen = found[Math.min(at, found.length - 1)];

  function act(target: Target | undefined) {
    if (!target) return;
    close();
    // after the dialog has given the focus back
    setTimeout(target.go, 0);
  }

  function keys(event: KeyboardEvent) {
    if (event.key === "ArrowDown") setAt((at + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp") setAt((at + found.length - 1) % Math.max(1, found.length));
    else if (event.key === "Enter") act(chosen);
    else return;
    event.preventDefault();
  }

  const t = which === "places" ? { ...texts.places, label: texts.places.count(targets.length) } : texts.goTo;
  return (
    <Dialog title={t.title} open size="top" onClose={close}>
      <input
        className="input go-input"
        autoFocus
        role="combobox"
        aria-label={t.label}
        aria-expanded
        aria-controls="go-list"
        aria-activedescendant={chosen ? `go-${chosen.id}` : undefined}
        placeholder={t.label}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onFocus={takeAhead}
        onKeyDown={keys}
      />
      <div className="go-list" id="go-list" role="listbox" aria-label={t.title}>
        {found.length === 0 ? <p className="dim go-none">{t.none}</p> : null}
        {found.map((target, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          <div
            key={target.id}
            id={`go-${target.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={target === chosen}
            ref={target === chosen ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
            className="go-item"
            onMouseMove={() => {
              if (target !== chosen) setAt(i);
            }}
            onClick={() => act(target)}
          >
            {target.icon}
            <span className={which === "places" ? "go-name mono" : "go-name"}>{target.name}</span>
            <span className="dim">{target.detail}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
