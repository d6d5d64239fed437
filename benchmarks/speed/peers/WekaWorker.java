// Times Weka's TAN from inside: reads a table once, then answers "fit" and "predict" lines with JSON seconds.
// "aode" fits AODE, which not every version of Weka has, and predicts with it.
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.BayesNet;
import weka.classifiers.bayes.net.search.local.LocalScoreSearchAlgorithm;
import weka.classifiers.bayes.net.search.local.Scoreable;
import weka.classifiers.bayes.net.search.local.TAN;
import weka.core.Instances;
import weka.core.SelectedTag;

public class WekaWorker {
    static Classifier fitted;

    public static void main(String[] args) throws Exception {
        Instances table = read(args[0], args[2].split(","));
        Instances rows = read(args[1], args[2].split(","));
        System.out.println("{\"rows\": " + table.numInstances() + "}");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String ask = lines.readLine(); ask != null; ask = lines.readLine()) {
            if (ask.equals("predict") && fitted == null) fitted = fit(table);
            System.gc();
            long start = System.nanoTime();
            if (ask.equals("fit")) fitted = fit(table);
            else if (ask.equals("aode")) fitted = fitAode(table);
            if (!ask.equals("fit")) predict(rows);
            System.out.println("{\"seconds\": " + (System.nanoTime() - start) / 1e9 + "}");
        }
    }

    static BayesNet fit(Instances table) throws Exception {
        TAN search = new TAN();
        search.setScoreType(new SelectedTag(Scoreable.ENTROPY, LocalScoreSearchAlgorithm.TAGS_SCORE_TYPE));
        BayesNet network = new BayesNet();
        network.setSearchAlgorithm(search);
        network.buildClassifier(table);
        return network;
    }

    static Classifier fitAode(Instances table) throws Exception {
        Class<?> found = Class.forName("weka.classifiers.bayes.AODE");
        Classifier averaged = (Classifier) found.getDeclaredConstructor().newInstance();
        averaged.buildClassifier(table);
        return averaged;
    }

    static double predict(Instances rows) throws Exception {
        double sum = 0;
        for (int i = 0; i < rows.numInstances(); i++) sum += fitted.distributionForInstance(rows.instance(i))[0];
        return sum;
    }

    static Instances read(String path, String[] states) throws Exception {
        StringBuilder header = new StringBuilder("@relation t\n");
        for (int j = 0; j < states.length; j++) {
            header.append("@attribute f").append(j).append(" {0");
            for (int k = 1; k < Integer.parseInt(states[j]); k++) header.append(",").append(k);
            header.append("}\n");
        }
        header.append("@data\n");
        Instances table = new Instances(new BufferedReader(new Joined(header.toString(), new FileReader(path))));
        table.setClassIndex(states.length - 1);
        return table;
    }

    /** A header followed by the rest of a file. */
    static class Joined extends Reader {
        private final Reader head;
        private final Reader body;

        Joined(String head, Reader body) {
            this.head = new StringReader(head);
            this.body = body;
        }

        @Override
        public int read(char[] into, int from, int length) throws java.io.IOException {
            int count = head.read(into, from, length);
            return count > 0 ? count : body.read(into, from, length);
        }

        @Override
        public void close() throws java.io.IOException {
            body.close();
        }
    }
}
