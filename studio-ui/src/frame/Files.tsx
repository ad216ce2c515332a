/** The files of the directory as a tree; those that are not saved have a mark. */
import { FileCode2, FilePlus2, FileText, Folder, Network, Shapes, Table2, Trash2 } from "lucide-react";
import type { FileEntry } from "../api/types";
import { Button, IconButton } from "../parts/Button";
import { Empty } from "../parts/Empty";
import { Panel } from "../parts/Panel";
import { Tree, type TreeNode } from "../parts/Tree";
import { leaveFor, openFile } from "../state/actions";
import { set, usePanel, useStudio } from "../state/store";
import { texts } from "../texts";

const ICONS = { rules: FileCode2, event: Table2, net: Network, model: Shapes, other: FileText };

export function FileIcon({ kind }: { kind: FileEntry["kind"] }) {
  const Icon = ICONS[kind] ?? FileText;
  return <Icon size={14} aria-hidden />;
}

function nodesOf(files: FileEntry[], dirty: ReadonlySet<string>): TreeNode[] {
  const top: TreeNode[] = [];
  const folders = new Map<string, TreeNode>();
  const folder = (path: string): TreeNode[] => {
    if (!path) return top;
    let node = folders.get(path);
    if (!node) {
      const cut = path.lastIndexOf("/");
      node = {
        id: `${path}/`,
        name: path,
        label: path.slice(cut + 1),
        icon: <Folder size={14} aria-hidden />,
        children: [],
      };
      folders.set(path, node);
      folder(path.slice(0, Math.max(0, cut))).push(node);
    }
    return node.children ?? [];
  };
  for (const file of files) {
    const cut = file.path.lastIndexOf("/");
    const isDirty = dirty.has(file.path);
    folder(file.path.slice(0, Math.max(0, cut))).push({
      id: file.path,
      name: file.path,
      label: file.path.slice(cut + 1),
      icon: <FileIcon kind={file.kind} />,
      className: file.in_program ? "" : "tree-dim",
      description: [isDirty && texts.files.unsaved, !file.writable && texts.files.readOnly]
        .filter(Boolean)
        .join(", "),
      end: isDirty ? <span className="dirty" data-testid="dirty" title={texts.files.unsaved} /> : null,
    });
  }
  const sort = (nodes: TreeNode[]) => {
    nodes.sort((a, b) => Number(!a.children) - Number(!b.children) || a.name.localeCompare(b.name));
    for (const node of nodes) if (node.children) sort(node.children);
  };
  sort(top);
  return top;
}

export function Files() {
  const files = useStudio((state) => state.files);
  const active = useStudio((state) => state.active);
  const ready = useStudio((state) => state.ready);
  const dirtyList = useStudio((state) =>
    Object.values(state.buffers)
      .filter((buffer) => buffer.dirty)
      .map((buffer) => buffer.path)
      .join("\n"),
  );
  const [open, toggle] = usePanel("filesOpen");
  const dirty = new Set(dirtyList.split("\n"));
  const entry = files.find((file) => file.path === active);
  // a file that was deleted elsewhere and has unsaved texts here is still listed
  const lost = [...dirty].filter((path) => path && !files.some((file) => file.path === path));
  const all: FileEntry[] = [
    ...files,
    ...lost.map((path) => ({
      path,
      kind: "rules" as const,
      language: null,
      size: 0,
      etag: "",
      in_program: false,
      writable: true,
    })),
  ];
  return (
    <Panel
      title={texts.files.title}
      open={open}
      onToggle={toggle}
      className="panel-files"
      actions={
        <>
          <IconButton name={texts.files.newFile} onPress={() => set({ dialog: "new-file" })}>
            <FilePlus2 size={14} />
          </IconButton>
          <IconButton
            name={texts.files.remove}
            why={entry?.writable ? undefined : texts.files.cannotRemove}
            onPress={() => set({ dialog: "delete-file" })}
          >
            <Trash2 size={14} />
          </IconButton>
        </>
      }
    >
      <Tree
        name={texts.files.title}
        nodes={nodesOf(all, dirty)}
        current={active}
        onAct={(path) => void openFile(path)}
        onDelete={(path) => {
          if (files.some((file) => file.path === path && file.writable))
            void leaveFor({ active: path, dialog: "delete-file" });
        }}
      />
      {ready && all.length === 0 ? (
        <Empty title={texts.files.none} text={texts.files.noneText}>
          <Button kind="main" onPress={() => set({ dialog: "new-file" })}>
            {texts.files.newFile}
          </Button>
        </Empty>
      ) : null}
    </Panel>
  );
}
