import { createRoot } from "react-dom/client";
import "./tokens.css";
import "./frame.css";
import { App } from "./App";
import { start } from "./state/start";

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
start();
