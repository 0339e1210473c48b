import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DecimalColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MapColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;

/**
 * What the ORC reader of Hive 3 makes of ORC files: for each file named a line {"schema", "stripes", "metadata"} and a
 * line for each row, JSON with values as tests/interop/values.py says.
 */
public final class OrcRows {
  private static final ObjectMapper JSON = new ObjectMapper();

  private OrcRows() {}

  public static void main(String[] files) throws Exception {
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    for (String file : files) {
      Reader reader = OrcFile.createReader(new Path(file), OrcFile.readerOptions(new Configuration()));
      out.println(JSON.writeValueAsString(about(reader)));
      TypeDescription schema = reader.getSchema();
      VectorizedRowBatch batch = schema.createRowBatch();
      RecordReader rows = reader.rows();
      while (rows.nextBatch(batch)) {
        for (int row = 0; row < batch.size; row++) {
          out.println(JSON.writeValueAsString(columns(schema, batch.cols, row).values()));
        }
      }
      rows.close();
    }
    out.flush();
  }

  private static Map<String, Object> about(Reader reader) {
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("schema", reader.getSchema().toString());
    about.put("rows", reader.getNumberOfRows());
    about.put("stripes", reader.getStripes().size());
    Map<String, String> metadata = new LinkedHashMap<>();
    for (String key : reader.getMetadataKeys()) {
      metadata.put(key, StandardCharsets.UTF_8.decode(reader.getMetadataValue(key)).toString());
    }
    about.put("metadata", metadata);
    return about;
  }

  private static Map<String, Object> columns(TypeDescription type, ColumnVector[] vectors, int row) {
    Map<String, Object> columns = new LinkedHashMap<>();
    for (int i = 0; i < vectors.length; i++) {
      columns.put(type.getFieldNames().get(i), value(type.getChildren().get(i), vectors[i], row));
    }
    return columns;
  }

  private static Object value(TypeDescription type, ColumnVector vector, int given) {
    int row = vector.isRepeating ? 0 : given;
    if (!vector.noNulls && vector.isNull[row]) {
      return null;
    }
    switch (type.getCategory()) {
      case BOOLEAN:
        return ((LongColumnVector) vector).vector[row] == 1;
      case BYTE:
      case SHORT:
      case INT:
      case LONG:
        return ((LongColumnVector) vector).vector[row];
      case DATE:
        return LocalDate.ofEpochDay(((LongColumnVector) vector).vector[row]).toString();
      case FLOAT:
      case DOUBLE:
        double number = ((DoubleColumnVector) vector).vector[row];
        return Double.isNaN(number) || Double.isInfinite(number) ? Double.toString(number) : (Object) number;
      case CHAR: // ORC's reader strips it; Hive pads it again
        String text = new String(bytes(vector, row), StandardCharsets.UTF_8);
        return text + " ".repeat(type.getMaxLength() - text.codePointCount(0, text.length()));
      case STRING:
      case VARCHAR:
        return new String(bytes(vector, row), StandardCharsets.UTF_8);
      case BINARY:
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes(vector, row)) {
          hex.append(String.format("%02x", b));
        }
        return hex.toString();
      case DECIMAL:
        return ((DecimalColumnVector) vector).vector[row].getHiveDecimal().toString();
      case TIMESTAMP:
        return ((TimestampColumnVector) vector).asScratchTimestamp(row).toString().replaceAll("\\.0$", "");
      case LIST:
        ListColumnVector list = (ListColumnVector) vector;
        return elements(type.getChildren().get(0), list.child, list.offsets[row], list.lengths[row]);
      case MAP:
        return pairs(type, (MapColumnVector) vector, row);
      case STRUCT:
        return columns(type, ((StructColumnVector) vector).fields, row);
      default:
        throw new IllegalArgumentException(type.toString());
    }
  }

  private static byte[] bytes(ColumnVector vector, int row) {
    BytesColumnVector bytes = (BytesColumnVector) vector;
    byte[] copy = new byte[bytes.length[row]];
    System.arraycopy(bytes.vector[row], bytes.start[row], copy, 0, copy.length);
    return copy;
  }

  private static List<Object> elements(TypeDescription type, ColumnVector child, long from, long count) {
    List<Object> elements = new ArrayList<>();
    for (long i = from; i < from + count; i++) {
      elements.add(value(type, child, (int) i));
    }
    return elements;
  }

  private static Object pairs(TypeDescription type, MapColumnVector map, int row) {
    List<Object> keys = elements(type.getChildren().get(0), map.keys, map.offsets[row], map.lengths[row]);
    List<Object> values = elements(type.getChildren().get(1), map.values, map.offsets[row], map.lengths[row]);
    List<Object> pairs = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      List<Object> pair = new ArrayList<>();
      pair.add(keys.get(i));
      pair.add(values.get(i));
      pairs.add(pair);
    }
    return Collections.singletonMap("@map", pairs);
  }
}
