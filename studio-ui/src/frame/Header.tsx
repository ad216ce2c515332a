/** The line on top: project, saving, undo, export, theme. */
import {
  CircleHelp,
  Download,
  PanelBottom,
  PanelLeft,
  PanelRight,
  Redo2,
  Save,
  SunMoon,
  Undo2,
} from "lucide-react";
import { Button, IconButton } from "../parts/Button";
import { MenuButton } from "../parts/MenuButton";
import { redo, save, saveAll, undo } from "../state/actions";
import { exportAs, exportItems } from "../state/exports";
import { get, type Studio, set, togglePanel, useStudio } from "../state/store";
import { texts } from "../texts";
import { ExampleMenu } from "./ExampleMenu";
import { useProblemsOpen } from "./Problems";

const t = texts.header;

function toggle(panel: "leftOpen" | "rightOpen" | "bottomOpen") {
  const { narrow, drawer } = get();
  if (narrow && panel !== "bottomOpen") {
    const side = panel === "leftOpen" ? "left" : "right";
    set({ drawer: drawer === side ? null : side });
    return;
  }
  togglePanel(panel);
}

/** Saves the file that is shown; if it is saved already, all others. */
export function saveNow() {
  const { active, buffers } = get();
  if (active && buffers[active]?.dirty) void save(active);
  else void saveAll();
}

export function Header() {
  const about = useStudio((state) => state.about);
  const dirty = useStudio((state) => Object.values(state.buffers).some((buffer) => buffer.dirty));
  const canUndo = useStudio((state) => state.canUndo);
  const canRedo = useStudio((state) => state.canRedo);
  const theme = useStudio((state) => state.theme);
  const panels = useStudio((state) => state.panels);
  const narrow = useStudio((state) => state.narrow);
  const drawer = useStudio((state) => state.drawer);
  useStudio((state) => `${state.active} ${state.job?.id} ${state.job?.state} ${state.net}`);
  const left = narrow ? drawer === "left" : panels.leftOpen;
  const problems = useProblemsOpen();
  const right = narrow ? drawer === "right" : panels.rightOpen;
  return (
    <header className="header">
      <img src="./icon.svg" alt="" width="18" height="18" />
      <h1>{texts.title}</h1>
      <span className="header-project">{about?.project ?? ""}</span>
      <ExampleMenu examples={about?.examples ?? []} />
      <span className="spring" />
      <Button kind="quiet" aria-label={t.save} why={dirty ? undefined : t.saved} onPress={saveNow}>
        <Save size={14} aria-hidden />
        <span className="button-text">{t.save}</span>
      </Button>
      <IconButton name={t.undo} keys="Ctrl+Z" why={canUndo ? undefined : t.noUndo} onPress={undo}>
        <Undo2 size={14} />
      </IconButton>
      <IconButton name={t.redo} keys="Ctrl+Shift+Z" why={canRedo ? undefined : t.noRedo} onPress={redo}>
        <Redo2 size={14} />
      </IconButton>
      <span className="header-line" />
      <MenuButton
        name={t.export}
        icon={<Download size={14} aria-hidden />}
        items={exportItems(get())}
        onAct={(id) => void exportAs(id)}
      />
      <MenuButton
        name={t.theme}
        icon={<SunMoon size={14} aria-hidden />}
        items={[
          { id: "light", label: t.light },
          { id: "dark", label: t.dark },
          { id: "system", label: t.system },
        ]}
        selected={theme}
        onAct={(id) => set({ theme: id as Studio["theme"] })}
      />
      <span className="header-line" />
      <IconButton name={t.files} pressed={left} onPress={() => toggle("leftOpen")}>
        <PanelLeft size={14} />
      </IconButton>
      <IconButton name={t.problems} pressed={problems} onPress={() => toggle("bottomOpen")}>
        <PanelBottom size={14} />
      </IconButton>
      <IconButton name={t.side} pressed={right} onPress={() => toggle("rightOpen")}>
        <PanelRight size={14} />
      </IconButton>
      <IconButton name={t.keys} keys="?" onPress={() => set({ dialog: "keys" })}>
        <CircleHelp size={14} />
      </IconButton>
    </header>
  );
}
