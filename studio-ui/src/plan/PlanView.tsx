import { Empty } from "../parts/Empty";
import { texts } from "../texts";

export default function PlanView() {
  return <Empty title={texts.plan.title} text={texts.plan.none} />;
}
