/** The buttons of the Text view beside the tabs. */
import { AlignLeft, Search } from "lucide-react";
import { IconButton } from "../parts/Button";
import { withEditor } from "../state/actions";
import { useStudio } from "../state/store";
import { texts } from "../texts";

export default function TextTools() {
  const active = useStudio((state) => state.active);
  const writable = useStudio((state) => Boolean(state.active && state.buffers[state.active]?.writable));
  const rules = useStudio((state) =>
    state.files.some((file) => file.path === state.active && file.kind === "rules"),
  );
  if (!active) return null;
  return (
    <>
      {rules && writable ? (
        <IconButton
          name={texts.text.format}
          keys="Shift+Alt+F"
          onPress={() => withEditor((editor) => editor.format())}
        >
          <AlignLeft size={14} />
        </IconButton>
      ) : null}
      <IconButton
        name={texts.text.search}
        keys="Ctrl+F"
        onPress={() => withEditor((editor) => editor.search())}
      >
        <Search size={14} />
      </IconButton>
    </>
  );
}
