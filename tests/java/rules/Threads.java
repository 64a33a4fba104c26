package rules;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/* Every way in which one thread makes another one work. */
class Threads {
	final ExecutorService pool = Executors.newFixedThreadPool(2);
	final ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);

	static class Worker extends Thread {
		@Override
		public void run() {}
	}

	static class Job implements Runnable {
		@Override
		public void run() {}
	}

	static class Sum implements Callable<Integer> {
		@Override
		public Integer call() {
			return 3;
		}
	}

	static class Tick extends TimerTask {
		@Override
		public void run() {}
	}

	static class Fork extends RecursiveTask<Integer> {
		@Override
		protected Integer compute() {
			return 1;
		}
	}

	void threads() {
		new Worker().start(); //> start Threads$Worker.run
		Thread t = new Thread(new Job()); //> start Threads$Job.run
		t.start();
		new Thread(() -> body(), "named").start(); //> start Threads.lambda$threads$*
		new Thread(this::body).start(); //> start Threads.body
		new Thread() { //> call Threads$1.<init>
			@Override
			public void run() {}
		}.start(); //> start Threads$1.run
	}

	void body() {}

	void pools() throws Exception {
		pool.execute(new Job()); //> start Threads$Job.run
		pool.submit(new Job()); //> start Threads$Job.run
		pool.submit(new Sum()); //> start Threads$Sum.call
		pool.submit(() -> body()); //> start Threads.lambda$pools$*
		clock.schedule(new Job(), 1, TimeUnit.SECONDS); //> start Threads$Job.run
		clock.scheduleAtFixedRate(() -> body(), 1, 1, TimeUnit.SECONDS); //> start Threads.lambda$pools$*
		new Timer().schedule(new Tick(), 10); //> start Threads$Tick.run
	}

	int supply() {
		return 4;
	}

	void futures() {
		CompletableFuture.runAsync(() -> body()); //> start Threads.lambda$futures$*
		CompletableFuture.supplyAsync(this::supply); //> start Threads.supply
		CompletableFuture<Integer> f = new CompletableFuture<>();
		f.thenAccept(n -> body()); //> start Threads.lambda$futures$*
	}

	void forks() {
		new ForkJoinPool().submit(new Fork()); //> start Threads$Fork.compute
		new Fork().fork(); //> start Threads$Fork.compute
	}

	/* hands over what it is handed: who calls it does so */
	void relay(Runnable r) {
		pool.execute(r);
	}

	void relayed() {
		relay(new Job()); //> start Threads$Job.run
		relay(() -> body()); //> start Threads.lambda$relayed$*
	}

	/* in the same thread */
	void direct() {
		new Job().run(); //> call Threads$Job.run
		Runnable r = () -> body(); //> call Threads.lambda$direct$*
		r.run();
	}
}
