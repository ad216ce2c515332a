/** The dialogs of the frame; loaded when the first is opened. */
import { lazy, Suspense, useEffect, useState } from "react";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Skeleton } from "../parts/Empty";
import { NameDialog } from "../parts/NameDialog";
import { settle, tell } from "../state/actions";
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
  const t = texts.files;

  async function take(name: string): Promise<string | null> {
    const path = name.replace(/^\.?\//, "");
    if (files.some((file) => file.path === path)) return t.exists;
    const known = [...suffixes, ...OTHERS];
    const fits = known.some((suffix) => path.toLowerCase().endsWith(suffix)) || path === "studio.json";
    if (suffixes.length && !fits) return t.suffix(known.join("  "));
    await create(path);
    return null;
  }

  const named = languages.map((one) => `${texts.languages[one.name] ?? one.name} ${one.suffixes.join(" ")}`);
  return (
    <NameDialog
      title={t.newFile}
      label={t.name}
      hint={named.length ? named.join(", ") : t.hint}
      button={t.create}
      cancel={t.cancel}
      placeholder="rules.epl"
      mono
      why={(name) => (name.replace(/^\.?\//, "") ? undefined : t.needsName)}
      onName={take}
      onClose={close}
    />
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
  const t = texts.rename;
  if (!renaming) return null;
  return (
    <NameDialog
      title={t.title(renaming.name)}
      label={t.name}
      hint={t.text(t.kinds[renaming.kind] ?? renaming.kind)}
      button={t.rename}
      cancel={t.cancel}
      failed={t.failed}
      initial={renaming.name}
      mono
      why={(name) => (name === "" || name === renaming.name ? t.same : undefined)}
      onName={(name) => finishRename(renaming, name)}
      onClose={close}
    />
  );
}

function Keys() {
  const numbers = VIEWS.map(({ id }) => numberOf(id));
  const views: [string, string] = [
    texts.keys.between(`Ctrl+${Math.min(...numbers)}`, `Ctrl+${Math.max(...numbers)}`),
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
        {texts.keys.groups.map(([title, rows], i) => (
          <tbody key={title}>
            <tr>
              <th scope="rowgroup" colSpan={2} className="keys-group">
                {title}
              </th>
            </tr>
            {[...rows, ...(i === 0 ? [views] : [])].map(([keys, what]) => (
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
        ))}
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
