/** Patterns are drawn for EPL: of other languages the definitions are shown as boxes, as in the plan. */
import { Info } from "lucide-react";
import PlanView from "../plan/PlanView";
import { texts } from "../texts";

export function OtherLanguages() {
  return (
    <div className="graph-others">
      <p className="file-note">
        <Info size={14} aria-hidden />
        <span>
          {texts.graph.noEpl}. {texts.graph.noEplText}
        </span>
      </p>
      <div className="graph-others-plan">
        <PlanView />
      </div>
    </div>
  );
}
