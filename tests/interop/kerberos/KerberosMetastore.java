import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.Credentials.SerializedFormat;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.kerby.kerberos.kerb.client.KrbClient;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;
import org.apache.kerby.kerberos.kerb.type.ticket.TgtTicket;

/**
 * A KDC (Apache Kerby) and a Hive Metastore that asks its clients for Kerberos, in one process that lives as long as its
 * input. Arguments: the metastore's port, the directory for keys, and the realm.
 *
 * <p>The directory gets krb5.conf, hive.keytab, alice.keytab and alice.ccache. Then there is a line for each request, and
 * one for its answer: "ready", "done", or what went wrong. The request "token FILE FORMAT" writes a file with a
 * delegation token of alice, as a job of YARN gets it; FORMAT is one of Hadoop's.
 */
public final class KerberosMetastore {
  private static final String USER = "alice";

  private KerberosMetastore() {}

  public static void main(String[] args) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    try {
      File directory = new File(args[1]);
      startKdc(directory, args[2]);
      startMetastore(args[0]);
      waitForPort(Integer.parseInt(args[0]));
      answers.println("ready");
      BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        answers.println(answer(line.split(" "), new File(directory, USER + ".keytab")));
      }
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(4);
    }
    Runtime.getRuntime().halt(0);
  }

  private static void startKdc(File directory, String realm) throws Exception {
    SimpleKdcServer kdc = new SimpleKdcServer();
    kdc.setWorkDir(directory);
    kdc.setKdcRealm(realm);
    kdc.setKdcHost("localhost");
    kdc.setAllowUdp(false);
    kdc.setAllowTcp(true);
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      kdc.setKdcTcpPort(free.getLocalPort());
    }
    kdc.init();
    kdc.start();
    export(kdc, directory, "hive/localhost", "hive");
    export(kdc, directory, USER, USER);
    KrbClient client = kdc.getKrbClient();
    TgtTicket ticket = client.requestTgt(USER + "@" + realm, new File(directory, USER + ".keytab"));
    client.storeTicket(ticket, new File(directory, USER + ".ccache"));
  }

  private static void export(SimpleKdcServer kdc, File directory, String principal, String name) throws Exception {
    kdc.createPrincipal(principal);
    kdc.exportPrincipal(principal, new File(directory, name + ".keytab"));
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

  private static void waitForPort(int port) throws InterruptedException {
    while (true) {
      try (Socket connected = new Socket("127.0.0.1", port)) {
        return;
      } catch (IOException refused) {
        Thread.sleep(50); // a metastore that cannot start ends this process
      }
    }
  }

  private static String answer(String[] request, File keytab) {
    try {
      UserGroupInformation user = UserGroupInformation.loginUserFromKeytabAndReturnUGI(USER, keytab.getPath());
      user.doAs(
          (PrivilegedExceptionAction<Void>)
              () -> {
                writeToken(new Path("file://" + request[1]), SerializedFormat.valueOf(request[2]));
                return null;
              });
      return "done";
    } catch (Throwable e) {
      e.printStackTrace();
      return String.valueOf(e);
    }
  }

  private static void writeToken(Path file, SerializedFormat format) throws Exception {
    Configuration conf = MetastoreConf.newMetastoreConf();
    HiveMetaStoreClient client = new HiveMetaStoreClient(conf);
    Token<TokenIdentifier> token = new Token<>();
    token.decodeFromUrlString(client.getDelegationToken(USER, USER));
    client.close();
    Credentials credentials = new Credentials();
    credentials.addToken(new Text("of another service"), new Token<>(new byte[300], new byte[1], new Text("k"), new Text("s")));
    credentials.addToken(new Text("hive"), token);
    credentials.addSecretKey(new Text("a secret"), new byte[] {1, 2, 3});
    credentials.writeTokenStorageFile(file, conf, format);
  }
}
