/** The buttons of the Text view beside the tabs. */
import { AlignLeft, Braces, Search } from "lucide-react";
import { IconButton } from "../parts/Button";
import { MenuButton } from "../parts/MenuButton";
import { type Asked, withEditor } from "../state/actions";
import { useStudio } from "../state/store";
import { texts } from "../texts";

const t = texts.text;

export default function TextTools() {
  const active = useStudio((state) => state.active);
  const writable = useStudio((state) => Boolean(state.active && state.buffers[state.active]?.writable));
  const rules = useStudio((state) =>
    state.files.some((file) => file.path === state.active && file.kind === "rules"),
  );
  if (!active) return null;
  return (
    <>
      {rules ? (
        <MenuButton
          name={t.name}
          compact
          icon={<Braces size={14} aria-hidden />}
          items={[
            { id: "definition", label: t.definition, keys: "F12" },
            { id: "uses", label: t.allUses, keys: "Shift+F12" },
            { id: "explain", label: t.explain, keys: "Alt+F12" },
            { id: "rename", label: t.rename, keys: "F2", why: writable ? undefined : t.readOnly },
          ]}
          onAct={(id) => withEditor((editor) => editor.ask(id as Asked))}
        />
      ) : null}
      {rules ? (
        <IconButton
          name={t.format}
          keys="Shift+Alt+F"
          why={writable ? undefined : t.readOnly}
          onPress={() => withEditor((editor) => editor.format())}
        >
          <AlignLeft size={14} />
        </IconButton>
      ) : null}
      <IconButton name={t.search} keys="Ctrl+F" onPress={() => withEditor((editor) => editor.search())}>
        <Search size={14} />
      </IconButton>
    </>
  );
}
