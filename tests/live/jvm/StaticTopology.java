import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.net.Node;

/**
 * The defect of HDFS-6268, planted: replicas of one rack are told to clients in one order for all, not in a random one
 * (net.topology.impl, with dfs.use.dfs.network.topology off).
 */
public class StaticTopology extends NetworkTopology {
	@Override
	public <T extends Node> void sortByDistance(Node reader, T[] nodes, int activeLen, Consumer<List<T>> secondarySort) {
		super.sortByDistance(null, nodes, activeLen, (Consumer<List<T>>) same -> same.sort(Comparator.comparing(Node::getName)));
	}
}
