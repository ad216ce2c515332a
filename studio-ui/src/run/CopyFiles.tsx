/** Event files that are dropped into Run, or chosen: they are copied into the directory after a question. */
import { FileDown } from "lucide-react";
import { useRef, useState } from "react";
import { ApiError } from "../api/client";
import { Button, IconButton } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { say, tell } from "../state/actions";
import { useStudio } from "../state/store";
import { texts } from "../texts";
import { copyIn } from "./actions";
import { nameProblem, namesFor, type Offered, refusal, sizeText } from "./copies";
import { setRun, useRun } from "./state";

const t = texts.run.copy;

export function offer(files: Offered[]) {
  if (files.length) setRun({ offered: files });
}

/** Chooses files to copy, as a drop does. */
export function AddFiles() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton name={t.add} onPress={() => input.current?.click()}>
        <FileDown size={14} />
      </IconButton>
      <input
        ref={input}
        type="file"
        multiple
        accept=".csv,.jsonl,.parquet"
        hidden
        data-testid="add-events"
        onChange={(event) => {
          offer([...(event.target.files ?? [])].map((file) => ({ file, folder: false })));
          event.target.value = "";
        }}
      />
    </>
  );
}

export function CopyDialog() {
  const offered = useRun((state) => state.offered);
  return offered.length ? <Question offered={offered} /> : null;
}

function Question({ offered }: { offered: Offered[] }) {
  const project = useStudio((state) => state.about?.project ?? "");
  const most = useStudio((state) => state.about?.limits.body ?? 16 << 20);
  const files = useStudio((state) => state.files);
  const [known] = useState(() => new Set(files.map((file) => file.path)));
  const [names, setNames] = useState(() => namesFor(offered, known));
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [copied, setCopied] = useState<readonly number[]>([]);
  const [busy, setBusy] = useState(false);
  const refused = offered.map((one) => refusal(one, most));
  const wanted = [...offered.keys()].filter((i) => refused[i] === null && !copied.includes(i));
  const problems = names.map((name, i) => {
    if (!wanted.includes(i)) return null;
    const others = wanted.filter((j) => j !== i).map((j) => names[j] ?? "");
    return wrong[name] ?? nameProblem(name, others, known);
  });
  const ready = wanted.length > 0 && problems.every((one) => one === null) && !busy;
  const close = () => setRun({ offered: [] });
  const submit = async () => {
    if (!ready) return;
    setBusy(true);
    for (const i of wanted) {
      const [name, file] = [names[i] ?? "", offered[i]?.file];
      try {
        if (file) await copyIn(name, file);
        setCopied((before) => [...before, i]);
      } catch (error) {
        setBusy(false);
        if (error instanceof ApiError) {
          const text = [error.message, error.hint].filter(Boolean).join(". ");
          setWrong((before) => ({ ...before, [name]: text }));
        } else tell(error);
        return;
      }
    }
    say(t.done(wanted.length));
    close();
  };
  return (
    <Dialog
      title={t.title}
      open
      onClose={close}
      buttons={
        <>
          <Button onPress={close}>{t.cancel}</Button>
          <Button kind="main" isDisabled={!ready} onPress={() => void submit()}>
            {t.do(wanted.length)}
          </Button>
        </>
      }
    >
      <p>{wanted.length ? t.text(project) : t.none}</p>
      <ul className="copy-files">
        {offered.map(({ file }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name
          <li key={i} hidden={copied.includes(i)}>
            {refused[i] ? (
              <span className="mono">{file.name}</span>
            ) : (
              <input
                className="input mono"
                aria-label={t.nameOf(file.name)}
                aria-invalid={problems[i] !== null}
                aria-describedby={`copy-problem-${i}`}
                spellCheck="false"
                autoComplete="off"
                value={names[i]}
                onChange={(event) => setNames(names.with(i, event.target.value.trim()))}
                onKeyDown={(event) => {
                  if (event.key === "Enter") void submit();
                }}
              />
            )}
            <span className="dim number">{sizeText(file.size)}</span>
            <p id={`copy-problem-${i}`} className="field-error">
              {refused[i] ?? problems[i]}
            </p>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
