import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IMetaStoreClient;
import org.apache.hadoop.hive.metastore.LockComponentBuilder;
import org.apache.hadoop.hive.metastore.LockRequestBuilder;
import org.apache.hadoop.hive.metastore.api.AlreadyExistsException;
import org.apache.hadoop.hive.metastore.api.DataOperationType;
import org.apache.hadoop.hive.metastore.api.FieldSchema;
import org.apache.hadoop.hive.ql.DriverFactory;
import org.apache.hadoop.hive.ql.IDriver;
import org.apache.hadoop.hive.ql.metadata.Hive;
import org.apache.hadoop.hive.ql.processors.CommandProcessor;
import org.apache.hadoop.hive.ql.processors.CommandProcessorFactory;
import org.apache.hadoop.hive.ql.session.SessionState;
import org.apache.hadoop.hive.ql.txn.compactor.Cleaner;
import org.apache.hadoop.hive.ql.txn.compactor.CompactorThread;
import org.apache.hadoop.hive.ql.txn.compactor.Worker;
import org.apache.hadoop.hive.serde2.FetchFormatter;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.hive.serde2.objectinspector.ListObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.MapObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.StructField;
import org.apache.hadoop.hive.serde2.objectinspector.StructObjectInspector;

/**
 * A metastore on a Thrift port, a compactor and a session of Hive's SQL driver, in one process that lives as long as its
 * input.
 *
 * <p>One request a line, one answer a line, both JSON: {"sql": ..} gives {"columns": .., "rows": ..};
 * {"begin": "db.table"} opens a transaction and gives {"txn": .., "write_id": ..}; {"commit": txn}; {"abort": txn};
 * {"add_partition": "db.table", "name": "p=1/q=a"}; {"seed": "db.table", "last": write ID};
 * {"derby": statement} runs one in the metastore's own database;
 * {"cleaner": true or false} starts and stops the compactions' cleaner, which runs at first.
 * What fails gives {"error": ..}. Argument: the port.
 */
public final class HiveProcess {
  private static final ObjectMapper JSON = new ObjectMapper();

  private HiveProcess() {}

  public static void main(String[] args) {
    try {
      run(args[0]);
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(4); // the metastore's threads would go on, and who asked would wait
    }
    Runtime.getRuntime().halt(0); // Tez and the metastore leave threads behind
  }

  private static void run(String port) throws Exception {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
    System.setOut(System.err); // Hive's own chatter
    startMetastore(port);
    waitForPort(Integer.parseInt(port));
    HiveConf conf = new HiveConf(SessionState.class);
    conf.set(SerDeUtils.LIST_SINK_OUTPUT_FORMATTER, Values.class.getName());
    SessionState session = new SessionState(conf);
    session.initTxnMgr(conf);
    SessionState.start(session);
    startWorker(new HiveConf(conf));
    setCleaner(true);
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      answers.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }
  }

  private static void startMetastore(String port) {
    Thread metastore =
        new Thread(
            () -> {
              try {
                HiveMetaStore.main(new String[] {"-p", port});
              } catch (Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(3);
              }
            });
    metastore.setDaemon(true);
    metastore.start();
  }

  /** Compacts what waits in the pool `hive` (hive_client.py); only workers outside the metastore have pools. */
  private static void startWorker(HiveConf conf) throws Exception {
    Worker worker = new Worker();
    worker.setPoolName("hive");
    CompactorThread.initializeAndStartThread(worker, conf);
  }

  private static Cleaner cleaner;
  private static AtomicBoolean cleanerStops;

  private static void setCleaner(boolean runs) throws Exception {
    if (cleaner != null) {
      cleanerStops.set(true);
      cleaner.join();
      cleaner = null;
    }
    if (runs) {
      cleanerStops = new AtomicBoolean();
      cleaner = new Cleaner();
      cleaner.setConf(new HiveConf(SessionState.class));
      cleaner.init(cleanerStops);
      cleaner.setDaemon(true);
      cleaner.start();
    }
  }

  private static void waitForPort(int port) throws InterruptedException {
    while (true) {
      try (Socket connected = new Socket("127.0.0.1", port)) {
        return;
      } catch (IOException refused) {
        Thread.sleep(50); // a metastore that cannot start ends this process
      }
    }
  }

  private static Map<String, Object> answer(JsonNode request) {
    Map<String, Object> answer = new LinkedHashMap<>();
    try {
      if (request.has("sql")) {
        runSql(request.get("sql").asText(), answer);
      } else if (request.has("begin")) {
        begin(request.get("begin").asText().split("\\."), answer);
      } else if (request.has("add_partition")) {
        addPartition(request.get("add_partition").asText().split("\\."), request.get("name").asText());
      } else if (request.has("seed")) {
        String[] table = request.get("seed").asText().split("\\.");
        client().seedWriteId(table[0], table[1], request.get("last").asLong());
      } else if (request.has("derby")) {
        runInDerby(request.get("derby").asText());
      } else if (request.has("cleaner")) {
        setCleaner(request.get("cleaner").asBoolean());
      } else if (request.has("commit")) {
        client().commitTxn(request.get("commit").asLong());
      } else {
        client().rollbackTxn(request.get("abort").asLong());
      }
    } catch (Throwable e) {
      e.printStackTrace();
      answer.put("error", String.valueOf(e.getMessage() == null ? e : e.getMessage()));
    }
    return answer;
  }

  private static IMetaStoreClient client() throws Exception {
    return Hive.get().getMSC();
  }

  private static void begin(String[] table, Map<String, Object> answer) throws Exception {
    long txn = client().openTxn("tests");
    LockComponentBuilder component =
        new LockComponentBuilder()
            .setDbName(table[0])
            .setTableName(table[1])
            .setIsTransactional(true)
            .setOperationType(DataOperationType.UPDATE)
            .setExclWrite();
    client().lock(new LockRequestBuilder("tests").setTransactionId(txn).setUser("tests").addLockComponent(component.build()).build());
    answer.put("txn", txn);
    answer.put("write_id", client().allocateTableWriteId(txn, table[0], table[1]));
  }

  private static void addPartition(String[] table, String name) throws Exception {
    try {
      client().appendPartition(table[0], table[1], name);
    } catch (AlreadyExistsException there) {
      return;
    }
  }

  private static void runInDerby(String statement) throws Exception {
    HiveConf conf = SessionState.get().getConf();
    try (Connection metastore = DriverManager.getConnection(conf.get("javax.jdo.option.ConnectionURL"), "APP", "mine");
        Statement derby = metastore.createStatement()) {
      derby.execute(statement);
    }
  }

  private static void runSql(String sql, Map<String, Object> answer) throws Exception {
    HiveConf conf = SessionState.get().getConf();
    String[] words = sql.trim().split("\\s+");
    CommandProcessor command = CommandProcessorFactory.getForHiveCommand(words, conf);
    if (command != null) {
      command.run(sql.trim().substring(words[0].length()).trim()); // SET and the like
      return;
    }
    try (IDriver driver = DriverFactory.newDriver(conf)) {
      driver.run(sql);
      if (driver.getSchema() == null || driver.getSchema().getFieldSchemas() == null) {
        return;
      }
      List<String> columns = new ArrayList<>();
      for (FieldSchema field : driver.getSchema().getFieldSchemas()) {
        columns.add(field.getName());
      }
      answer.put("columns", columns);
      answer.put("rows", rows(driver));
    }
  }

  private static List<Object> rows(IDriver driver) throws Exception {
    List<Object> rows = new ArrayList<>();
    List<Object> batch = new ArrayList<>();
    while (driver.getResults(batch)) {
      for (Object row : batch) {
        rows.add(row instanceof List ? row : row.toString().split("\t", -1)); // SHOW gives text
      }
      batch.clear();
    }
    return rows;
  }

  /** Local files without .crc files beside them, as on HDFS: what another program puts there is read as it is. */
  public static final class PlainLocalFiles extends LocalFileSystem {
    public PlainLocalFiles() {
      super(new RawLocalFiles());
    }

    @Override
    public void initialize(URI name, Configuration conf) throws IOException {
      super.initialize(name, conf);
      setWriteChecksum(false);
      setVerifyChecksum(false);
    }

    /** Of the jar that Hive installed nothing: Tez copies its 80 MB for each container, but its tasks run in here. */
    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      boolean isInstalled = path.getParent() != null && path.getParent().getName().equals(".hiveJars");
      return super.open(isInstalled ? new Path("/dev/null") : path, bufferSize);
    }
  }

  /** The same for FileContext, by which Tez reads and writes. */
  public static final class PlainLocalFs extends DelegateToFileSystem {
    public PlainLocalFs(URI name, Configuration conf) throws IOException, URISyntaxException {
      super(FsConstants.LOCAL_FS_URI, new RawLocalFiles(), conf, FsConstants.LOCAL_FS_URI.getScheme(), false);
    }

    @Override
    public int getUriDefaultPort() {
      return -1;
    }
  }

  /**
   * Hadoop without its native library starts `chmod`, `readlink` and `ls` up to a hundred times a statement. A file that
   * the cleaner removes before `ls` sees it would end the statement; other file systems give permissions with the list.
   */
  private static final class RawLocalFiles extends RawLocalFileSystem {
    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      FileStatus status = super.getFileStatus(path);
      PosixFileAttributes attributes;
      try {
        attributes = Files.readAttributes(pathToFile(path).toPath(), PosixFileAttributes.class);
      } catch (NoSuchFileException removed) {
        throw (IOException) new FileNotFoundException(path.toString()).initCause(removed);
      }
      return new FileStatus(
          status.getLen(),
          status.isDirectory(),
          status.getReplication(),
          status.getBlockSize(),
          status.getModificationTime(),
          status.getAccessTime(),
          FsPermission.valueOf("-" + PosixFilePermissions.toString(attributes.permissions())),
          attributes.owner().getName(),
          attributes.group().getName(),
          status.getPath());
    }

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      String symbols =
          permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(symbols));
    }

    @Override
    public FileStatus getFileLinkStatus(Path path) throws IOException {
      boolean isLink = Files.isSymbolicLink(pathToFile(path).toPath());
      return isLink ? super.getFileLinkStatus(path) : getFileStatus(path);
    }
  }

  /** A row as a list of what JSON knows; tests/interop/values.py says how the other types are written. */
  public static final class Values implements FetchFormatter<Object> {
    @Override
    public void initialize(Configuration conf, Properties properties) {}

    @Override
    public void close() {}

    @Override
    public Object convert(Object row, ObjectInspector inspector) {
      return new ArrayList<>(fields(row, (StructObjectInspector) inspector).values());
    }

    private static Object value(Object data, ObjectInspector inspector) {
      if (data == null) {
        return null;
      }
      switch (inspector.getCategory()) {
        case PRIMITIVE:
          return primitive(((PrimitiveObjectInspector) inspector).getPrimitiveJavaObject(data));
        case LIST:
          List<Object> elements = new ArrayList<>();
          ListObjectInspector list = (ListObjectInspector) inspector;
          for (Object element : list.getList(data)) {
            elements.add(value(element, list.getListElementObjectInspector()));
          }
          return elements;
        case MAP:
          List<Object> pairs = new ArrayList<>();
          MapObjectInspector map = (MapObjectInspector) inspector;
          for (Map.Entry<?, ?> entry : map.getMap(data).entrySet()) {
            List<Object> pair = new ArrayList<>();
            pair.add(value(entry.getKey(), map.getMapKeyObjectInspector()));
            pair.add(value(entry.getValue(), map.getMapValueObjectInspector()));
            pairs.add(pair);
          }
          return Collections.singletonMap("@map", pairs);
        case STRUCT:
          return fields(data, (StructObjectInspector) inspector);
        default:
          throw new IllegalArgumentException(inspector.getTypeName());
      }
    }

    private static Map<String, Object> fields(Object data, StructObjectInspector inspector) {
      Map<String, Object> fields = new LinkedHashMap<>();
      int place = 0;
      for (StructField field : inspector.getAllStructFieldRefs()) {
        // The columns of a result may share a name: told apart by their place.
        String name = fields.containsKey(field.getFieldName()) ? field.getFieldName() + place : field.getFieldName();
        fields.put(name, value(inspector.getStructFieldData(data, field), field.getFieldObjectInspector()));
        place++;
      }
      return fields;
    }

    private static Object primitive(Object value) {
      if (value instanceof Float || value instanceof Double) {
        double number = ((Number) value).doubleValue();
        return Double.isNaN(number) || Double.isInfinite(number) ? Double.toString(number) : (Object) number;
      }
      if (value == null || value instanceof Number && !(value instanceof BigDecimal) || value instanceof Boolean) {
        return value;
      }
      if (value instanceof byte[]) {
        StringBuilder hex = new StringBuilder();
        for (byte b : (byte[]) value) {
          hex.append(String.format("%02x", b));
        }
        return hex.toString();
      }
      return value.toString();
    }
  }
}
