import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A resource manager and two node managers in one process, whose file system is this machine's.
 *
 * <p>Argument: the directory for yarn-site.xml, the configuration of clients, which is there when the cluster runs. Ends
 * when standard input does.
 */
public final class YarnProcess {
  private static final int NODES = 2;
  private static final int START_MILLISECONDS = 120_000;

  private YarnProcess() {}

  public static void main(String[] arguments) {
    try {
      run(Path.of(arguments[0]));
    } catch (Throwable error) {
      error.printStackTrace();
      System.exit(1);
    }
    System.exit(0); // threads of the cluster may still run
  }

  private static void run(Path directory) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    FileSystem.setDefaultUri(conf, "file:///");
    conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    conf.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, false);
    conf.setInt(YarnConfiguration.NM_PMEM_MB, 6144);
    conf.setInt(YarnConfiguration.NM_VCORES, 8);
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    conf.set(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, "100");
    conf.set(
        YarnConfiguration.RM_SCHEDULER,
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler");
    MiniYARNCluster cluster = new MiniYARNCluster("yarn", NODES, 1, 1);
    cluster.init(conf);
    cluster.start();
    cluster.waitForNodeManagersToConnect(START_MILLISECONDS);
    Path written = directory.resolve("yarn-site.xml.new");
    try (OutputStream out = Files.newOutputStream(written)) {
      cluster.getConfig().writeXml(out);
    }
    Files.move(written, directory.resolve("yarn-site.xml"));
    while (System.in.read() >= 0) {
      continue;
    }
    cluster.stop();
  }
}
