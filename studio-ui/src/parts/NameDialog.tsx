/** A dialog that asks for a name; what is wrong with it is told below the field. */
import { useState } from "react";
import { FieldError, Input, Label, Text, TextField } from "react-aria-components";
import { ApiError } from "../api/client";
import { messageOf, tell } from "../state/actions";
import { Button } from "./Button";
import { Dialog } from "./Dialog";

export function NameDialog({
  title,
  label,
  hint,
  button,
  cancel,
  failed,
  initial = "",
  placeholder,
  mono = false,
  why,
  onName,
  onClose,
}: {
  title: string;
  label: string;
  hint: string;
  /** the name of the button that takes the name */
  button: string;
  cancel: string;
  /** the title of an error that the name is not to blame for */
  failed?: string;
  initial?: string;
  placeholder?: string;
  mono?: boolean;
  /** why a name cannot be taken yet; undefined: it can */
  why: (name: string) => string | undefined;
  /** takes the name; answers what is wrong with it, or null */
  onName: (name: string) => Promise<string | null>;
  onClose: () => void;
}) {
  const [name, setName] = useState(initial);
  const [wrong, setWrong] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const reason = why(name.trim());

  async function submit() {
    if (reason !== undefined || busy) return;
    setBusy(true);
    try {
      const found = await onName(name.trim());
      if (found === null) onClose();
      else setWrong(found);
    } catch (error) {
      if (error instanceof ApiError) setWrong(messageOf(error));
      else tell(error, failed);
    }
    setBusy(false);
  }

  return (
    <Dialog
      title={title}
      open
      onClose={onClose}
      buttons={
        <>
          <Button onPress={onClose}>{cancel}</Button>
          <Button kind="main" why={reason} isDisabled={busy} onPress={() => void submit()}>
            {button}
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
        <Label>{label}</Label>
        <Input
          className={mono ? "input mono" : "input"}
          placeholder={placeholder}
          spellCheck="false"
          autoComplete="off"
        />
        <Text slot="description" className="dim">
          {hint}
        </Text>
        <FieldError className="field-error">{wrong}</FieldError>
      </TextField>
    </Dialog>
  );
}
