/** The examples that can be copied into the directory. */
import { MenuButton } from "../parts/MenuButton";
import { openExample } from "../state/files";
import { texts } from "../texts";

export function ExampleMenu({ examples }: { examples: readonly string[] }) {
  if (!examples.length) return null;
  return (
    <MenuButton
      name={texts.header.example}
      placement="bottom start"
      items={examples.map((name) => ({ id: name, label: name }))}
      onAct={(name) => void openExample(name)}
    />
  );
}
