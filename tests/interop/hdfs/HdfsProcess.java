import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * A name node and one data node below the directory of the first argument. Prints the file system's URI when it takes
 * files, and lives as long as its standard input is open. The line "stop" there ends the name node, "start" starts it
 * again; each is answered with a line when it is done.
 */
public final class HdfsProcess {
  private HdfsProcess() {}

  public static void main(String[] arguments) {
    try {
      run(new File(arguments[0]).getAbsoluteFile());
    } catch (Throwable error) {
      error.printStackTrace();
      System.exit(1); // the servers' threads would go on
    }
    System.exit(0);
  }

  private static void run(File root) throws Exception {
    Configuration conf = new Configuration();
    FileSystem.setDefaultUri(conf, "hdfs://127.0.0.1:0");
    conf.set("dfs.namenode.name.dir", new File(root, "name").toURI().toString());
    conf.set("dfs.datanode.data.dir", new File(root, "data").toURI().toString());
    conf.set("dfs.namenode.rpc-address", "127.0.0.1:0");
    conf.set("dfs.namenode.http-address", "127.0.0.1:0");
    conf.set("dfs.datanode.address", "127.0.0.1:0");
    conf.set("dfs.datanode.http.address", "127.0.0.1:0");
    conf.set("dfs.datanode.ipc.address", "127.0.0.1:0");
    conf.set("dfs.namenode.datanode.registration.ip-hostname-check", "false");
    conf.setInt("dfs.replication", 1);
    conf.setInt("dfs.namenode.safemode.extension", 0);
    conf.setInt("dfs.heartbeat.interval", 1);
    DefaultMetricsSystem.setMiniClusterMode(true); // two servers in one process
    NameNode.format(conf);
    NameNode names = new NameNode(conf);
    String uri = "hdfs://127.0.0.1:" + names.getNameNodeAddress().getPort();
    FileSystem.setDefaultUri(conf, uri);
    conf.set("dfs.namenode.rpc-address", uri.substring("hdfs://".length()));
    DataNode data = DataNode.createDataNode(new String[0], conf);
    try (FileSystem files = FileSystem.newInstance(conf)) {
      while (names.getNamesystem().getNumLiveDataNodes() == 0 || names.isInSafeMode()) {
        Thread.sleep(50);
      }
      files.mkdirs(new Path("/tmp"), new FsPermission((short) 01777));
      files.mkdirs(new Path("/warehouse"));
    }
    System.out.println(uri);
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String order = orders.readLine(); order != null; order = orders.readLine()) {
      if (order.equals("stop")) {
        names.stop();
        names.join();
      } else {
        names = new NameNode(conf);
        while (names.getNamesystem().getNumLiveDataNodes() == 0 || names.isInSafeMode()) {
          Thread.sleep(50);
        }
      }
      System.out.println("done");
    }
    data.shutdown();
    names.stop();
  }
}
