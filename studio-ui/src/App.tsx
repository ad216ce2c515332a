import { lazy, Suspense } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Skeleton } from "./parts/Empty";
import { showView } from "./state/actions";
import { useStudio, VIEWS, type View } from "./state/store";
import { texts } from "./texts";

const PlanView = lazy(() => import("./plan/PlanView"));
const RunView = lazy(() => import("./run/RunView"));
const WhyPanel = lazy(() => import("./run/WhyPanel"));

export function App() {
  const view = useStudio((state) => state.view);
  return (
    <main>
      <h1>{texts.title}</h1>
      <Tabs selectedKey={view} onSelectionChange={(key) => showView(key as View)}>
        <TabList aria-label={texts.views.label}>
          {VIEWS.map((name) => (
            <Tab key={name} id={name}>
              {texts.views[name]}
            </Tab>
          ))}
        </TabList>
        {VIEWS.map((name) => (
          <TabPanel key={name} id={name}>
            <Suspense fallback={<Skeleton />}>
              {name === "Plan" ? <PlanView /> : name === "Run" ? <RunView /> : null}
            </Suspense>
          </TabPanel>
        ))}
      </Tabs>
      <Suspense>
        <WhyPanel />
      </Suspense>
    </main>
  );
}
