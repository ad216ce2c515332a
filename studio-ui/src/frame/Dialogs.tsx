/** The dialogs of the frame; loaded when the first is opened. */
import { lazy, Suspense, useEffect, useState } from "react";
import { FieldError, Input, Label, Text, TextField } from "react-aria-components";
import { ApiError } from "../api/client";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Skeleton } from "../parts/Empty";
import { messageOf, settle, tell } from "../state/actions";
import { create, remove } from "../state/files";
import { set, useStudio } from "../state/store";
import { finishRename } from "../text/rename";
import { texts } from "../texts";
import { numberOf, VIEWS } from "../views";
import { GoTo } from "./GoTo";

const Compare = lazy(() => import("../text/Compare"));

const close = () => set({ dialog: null });

/** What can be written beside rules: events, nets, models. */
const OTHERS = [".csv", ".jsonl", ".net.json", ".cpn", ".pattern.json"];

function NewFile() {
  const languages = useStudio((state) => state.about?.languages) ?? [];
  const files = useStudio((state) => state.files);
  const suffixes = languages.flatMap((language) => language.suffixes);
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const t = texts.files;

  async function submit() {
    const path = name.trim().replace(/^\.?\//, "");
    if (!path) return;
    if (files.some((file) => file.path === path)) return setWrong(t.exists);
    const known = [...suffixes, ...OTHERS];
    if (
      suffixes.length &&
      !known.some((suffix) => path.toLowerCase().endsWith(suffix)) &&
      path !== "studio.json"
    )
      return setWrong(t.suffix(known.join("  ")));
    try {
      await create(path);
      close();
    } catch (error) {
      if (error instanceof ApiError) setWrong(messageOf(error));
      else tell(error);
    }
  }

  return (
    <Dialog
      title={t.newFile}
      open
      onClose={close}
      buttons={
        <>
          <Button onPress={close}>{t.cancel}</Button>
          <Button kind="main" why={name.trim() ? undefined : t.needsName} onPress={() => void submit()}>
            {t.create}
          </Button>
        </>
      }
    >
      <TextField
        className="text-field"
        autoFocus
        value={name}
        isInvalid={wrong !== null}
        onChange={(now) => {
          setName(now);
          setWrong(null);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") void submit();
          else event.continuePropagation();
        }}
      >
        <Label>{t.name}</Label>
        <Input className="input mono" placeholder="rules.epl" spellCheck="false" autoComplete="off" />
        <Text slot="description" className="dim">
          {languages.length
            ? languages
                .map((one) => `${texts.languages[one.name] ?? one.name} ${one.suffixes.join(" ")}`)
                .join(", ")
            : t.hint}
        </Text>
        <FieldError className="field-error">{wrong}</FieldError>
      </TextField>
    </Dialog>
  );
}

function DeleteFile() {
  const active = useStudio((state) => state.active);
  const t = texts.files;
  if (!active) return null;
  return (
    <Dialog
      title={t.removeAsk(active)}
      open
      onClose={close}
      buttons={
        <>
          <Button onPress={close} autoFocus>
            {t.cancel}
          </Button>
          <Button
            kind="danger"
            onPress={() => {
              close();
              remove(active).catch(tell);
            }}
          >
            {t.removeDo}
          </Button>
        </>
      }
    >
      <p>{t.removeText}</p>
    </Dialog>
  );
}

function Rename() {
  const renaming = useStudio((state) => state.renaming);
  const [name, setName] = useState(renaming?.name ?? "");
  const [wrong, setWrong] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const t = texts.rename;
  if (!renaming) return null;
  const of = renaming;
  const same = name.trim() === "" || name.trim() === of.name;

  async function submit() {
    if (same || busy) return;
    setBusy(true);
    try {
      const reason = await finishRename(of, name.trim());
      if (reason) setWrong(reason);
      else close();
    } catch (error) {
      if (error instanceof ApiError) setWrong(messageOf(error));
      else tell(error, t.failed);
    }
    setBusy(false);
  }

  return (
    <Dialog
      title={t.title(of.name)}
      open
      onClose={close}
      buttons={
        <>
          <Button onPress={close}>{t.cancel}</Button>
          <Button kind="main" why={same ? t.same : undefined} isDisabled={busy} onPress={() => void submit()}>
            {t.rename}
          </Button>
        </>
      }
    >
      <TextField
        className="text-field"
        autoFocus
        value={name}
        isInvalid={wrong !== null}
        onFocus={(event) => (event.target as HTMLInputElement).select()}
        onChange={(now) => {
          setName(now);
          setWrong(null);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") void submit();
          else event.continuePropagation();
        }}
      >
        <Label>{t.name}</Label>
        <Input className="input mono" spellCheck="false" autoComplete="off" />
        <Text slot="description" className="dim">
          {t.text(t.kinds[of.kind] ?? of.kind)}
        </Text>
        <FieldError className="field-error">{wrong}</FieldError>
      </TextField>
    </Dialog>
  );
}

function Keys() {
  const views: [string, string] = [
    VIEWS.map(({ id }) => `Ctrl+${numberOf(id)}`).join(" or "),
    VIEWS.map(({ id }) => texts.views[id]).join(", "),
  ];
  return (
    <Dialog
      title={texts.keys.title}
      open
      size="wide"
      onClose={close}
      buttons={
        <Button onPress={close} autoFocus>
          {texts.errors.close}
        </Button>
      }
    >
      <table className="keys">
        <tbody>
          {[...texts.keys.rows.slice(0, 2), views, ...texts.keys.rows.slice(2)].map(([keys, what]) => (
            <tr key={what}>
              <th scope="row">
                {keys.split(" or ").map((one) => (
                  <kbd key={one}>{one}</kbd>
                ))}
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}

function Changed() {
  const conflict = useStudio((state) => state.conflicts[0]);
  const more = useStudio((state) => state.conflicts.length - 1);
  const [compare, setCompare] = useState(false);
  const path = conflict?.path;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file starts without the comparison
  useEffect(() => setCompare(false), [path]);
  if (!conflict) return null;
  const t = texts.changed;
  return (
    <Dialog
      title={t.title}
      open
      size={compare ? "big" : "small"}
      onClose={() => {}}
      buttons={
        <>
          <Button onPress={() => setCompare(!compare)}>{compare ? t.back : t.compare}</Button>
          <span className="spring" />
          <Button onPress={() => void settle("theirs").catch(tell)}>{t.theirs}</Button>
          <Button kind="main" onPress={() => void settle("mine").catch(tell)}>
            {t.mine}
          </Button>
        </>
      }
    >
      <p>{conflict.theirs === null ? t.gone(conflict.path) : t.text(conflict.path)}</p>
      {more ? <p className="dim">{t.more(more)}</p> : null}
      {compare ? (
        <Suspense fallback={<Skeleton />}>
          <Compare path={conflict.path} theirs={conflict.theirs ?? ""} />
        </Suspense>
      ) : null}
    </Dialog>
  );
}

export default function Dialogs() {
  const dialog = useStudio((state) => state.dialog);
  const conflict = useStudio((state) => state.conflicts.length > 0);
  return (
    <>
      {dialog === "new-file" ? <NewFile /> : null}
      {dialog === "delete-file" ? <DeleteFile /> : null}
      {dialog === "rename" ? <Rename /> : null}
      {dialog === "keys" ? <Keys /> : null}
      {dialog === "go-to" || dialog === "places" ? <GoTo /> : null}
      {conflict ? <Changed /> : null}
    </>
  );
}
