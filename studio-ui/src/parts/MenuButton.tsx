/** A button that opens a menu; with `selected` its items are radios. */
import { Check, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";

export interface MenuEntry {
  id: string;
  label: string;
  /** why it cannot be chosen now; shown in its line */
  why?: string | undefined;
  keys?: string;
}

export function MenuButton({
  name,
  icon,
  items,
  selected,
  compact = false,
  placement = "bottom end",
  onAct,
}: {
  name: string;
  icon?: ReactNode;
  items: MenuEntry[];
  /** the icon alone; the name is told on hover */
  compact?: boolean;
  selected?: string;
  placement?: "bottom start" | "bottom end";
  onAct: (id: string) => void;
}) {
  const radio = selected !== undefined;
  return (
    <MenuTrigger>
      <Button className="button button-quiet" aria-label={name}>
        {icon}
        {compact ? null : <span className="button-text">{name}</span>}
        <ChevronDown size={12} aria-hidden />
      </Button>
      <Popover className="menu-popover" placement={placement} offset={4}>
        <Menu
          className="menu"
          aria-label={name}
          items={items}
          selectionMode={radio ? "single" : "none"}
          selectedKeys={radio ? [selected] : undefined}
          disallowEmptySelection={radio}
          disabledKeys={items.filter((item) => item.why !== undefined).map((item) => item.id)}
          onAction={(key) => onAct(String(key))}
        >
          {(item) => (
            <MenuItem id={item.id} textValue={item.label} className="menu-item">
              {radio ? <Check size={14} className="menu-check" aria-hidden /> : null}
              <span>{item.label}</span>
              {item.why !== undefined ? (
                <span className="menu-why">{item.why}</span>
              ) : item.keys ? (
                <kbd>{item.keys}</kbd>
              ) : null}
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
