// Esper on the sequences of benchmarks/epl.py: the same statements over the same events, made beforehand and in memory.
//
//   java -cp <jars and classes> EsperRate ROWS SCHEMAS_AND_STATEMENTS_FILE
//
// The file is one EPL module.  It is compiled once.  For every line on the standard input a new runtime is made, the
// module is deployed and the events are sent by one thread, the clock moved to the time of each; the answer is a line
// `matches cpu-nanoseconds nanoseconds` of the sending alone (cpu: of the sending thread).  The first line printed is
// `ready compile-nanoseconds`.

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.EventSender;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPDeployment;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

public final class EsperRate {
    private static long matches;

    public static void main(String[] arguments) throws Exception {
        int rows = Integer.parseInt(arguments[0]);
        String module = Files.readString(Path.of(arguments[1]));
        int[] types = new int[rows];
        Object[][] events = new Object[rows][];
        for (int i = 0; i < rows; i++) {
            int x = i + 1;
            x ^= x >>> 16;
            x *= 0x7feb352d;
            x ^= x >>> 15;
            x *= 0x846ca68b;
            x ^= x >>> 16;
            types[i] = Integer.remainderUnsigned(x, 10);
            events[i] = new Object[] {
                Integer.remainderUnsigned(Integer.divideUnsigned(x, 10), 100),
                Integer.remainderUnsigned(Integer.divideUnsigned(x, 1000), 1000),
                Integer.remainderUnsigned(Integer.divideUnsigned(x, 1000000), 10)};
        }
        Configuration configuration = new Configuration();
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        configuration.getRuntime().getLogging().setEnableTimerDebug(false);
        configuration.getRuntime().getLogging().setEnableExecutionDebug(false);
        long begin = System.nanoTime();
        EPCompiled compiled = EPCompilerProvider.getCompiler().compile(module, new CompilerArguments(configuration));
        System.out.println("ready " + (System.nanoTime() - begin));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (int run = 0; input.readLine() != null; run++) {
            System.out.println(send(compiled, configuration, types, events, "run" + run));
        }
    }

    private static String send(
            EPCompiled compiled, Configuration configuration, int[] types, Object[][] events, String name)
            throws Exception {
        EPRuntime runtime = EPRuntimeProvider.getRuntime(name, configuration);
        runtime.initialize();
        EPEventService service = runtime.getEventService();
        service.clockExternal();
        service.advanceTime(0);
        EPDeployment deployment = runtime.getDeploymentService().deploy(compiled);
        for (EPStatement statement : deployment.getStatements()) {
            statement.addListener((added, removed, from, of) -> matches += added.length);
        }
        EventSender[] senders = new EventSender[10];
        for (int t = 0; t < senders.length; t++) {
            senders[t] = service.getEventSender("T" + t);
        }
        matches = 0;
        System.gc();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long cpu = threads.getCurrentThreadCpuTime();
        long begin = System.nanoTime();
        for (int i = 0; i < types.length; i++) {
            service.advanceTime(i + 1);
            senders[types[i]].sendEvent(events[i]);
        }
        long wall = System.nanoTime() - begin;
        cpu = threads.getCurrentThreadCpuTime() - cpu;
        runtime.destroy();
        return matches + " " + cpu + " " + wall;
    }
}
