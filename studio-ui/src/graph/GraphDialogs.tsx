/** The dialogs of the drawing: a new pattern, and what becomes of the operands of what is deleted. */
import { useState } from "react";
import { FieldError, Input, Label, Text, TextField } from "react-aria-components";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { showView, tell } from "../state/actions";
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
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);

  async function submit() {
    const wanted = name.trim();
    if (!wanted) return;
    const state = getGraph();
    if (drawable(state).includes(wanted) || state.statements.some((one) => one.id === wanted))
      return setWrong(t.exists(wanted));
    close();
    try {
      if (!get().active?.toLowerCase().endsWith(".epl")) {
        await create(FIRST);
        showView("Graph");
      }
      await addPattern(wanted);
    } catch (error) {
      tell(error, t.notDrawn);
    }
  }

  return (
    <Dialog
      title={t.newPattern}
      open
      onClose={close}
      buttons={
        <>
          <Button onPress={close}>{t.cancel}</Button>
          <Button kind="main" isDisabled={!name.trim()} onPress={() => void submit()}>
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
        <Input className="input" spellCheck="false" autoComplete="off" />
        <Text slot="description" className="dim">
          {t.nameHint}
        </Text>
        <FieldError className="field-error">{wrong}</FieldError>
      </TextField>
    </Dialog>
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
