/** The dialogs of the drawing: a new pattern, and what becomes of the operands of what is deleted. */
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { NameDialog } from "../parts/NameDialog";
import { showView } from "../state/actions";
import { create } from "../state/files";
import { get } from "../state/store";
import { texts } from "../texts";
import { removeNow } from "./acts";
import { FIRST } from "./imports";
import { addPattern } from "./session";
import { drawable, getGraph, setGraph, useGraph } from "./state";

const t = texts.graph;
const close = () => setGraph({ dialog: null });

function NewPattern() {
  async function take(name: string): Promise<string | null> {
    const state = getGraph();
    if (drawable(state).includes(name) || state.statements.some((one) => one.id === name))
      return t.exists(name);
    if (!get().active?.toLowerCase().endsWith(".epl")) {
      await create(FIRST);
      showView("Graph");
    }
    await addPattern(name);
    return null;
  }

  return (
    <NameDialog
      title={t.newPattern}
      label={t.name}
      hint={t.nameHint}
      button={t.create}
      cancel={t.cancel}
      failed={t.notDrawn}
      why={(name) => (name ? undefined : texts.files.needsName)}
      onName={take}
      onClose={close}
    />
  );
}

function Delete() {
  const answer = (keep: boolean) => {
    close();
    removeNow(keep);
  };
  return (
    <Dialog
      title={t.deleteTitle}
      open
      onClose={close}
      buttons={
        <>
          <Button onPress={close}>{t.cancel}</Button>
          <span className="spring" />
          <Button onPress={() => answer(false)}>{t.deleteAll}</Button>
          <Button kind="main" autoFocus onPress={() => answer(true)}>
            {t.deleteKeep}
          </Button>
        </>
      }
    >
      <p>{t.deleteText}</p>
    </Dialog>
  );
}

export function GraphDialogs() {
  const dialog = useGraph((state) => state.dialog);
  if (dialog === "new-pattern") return <NewPattern />;
  return dialog === "delete" ? <Delete /> : null;
}
