// Runs a server in one process or in a cluster of several that share one port.
import cluster from 'node:cluster';

/**
 * Runs `listen` in `count` processes and prints `{"port": …}` and the members of `announcement` as one line of JSON
 * once all of them listen. `listen` returns the port. With one process there is no cluster and no primary process.
 */
export async function serve(count, announcement, listen) {
  const announce = (port) => console.log(JSON.stringify({ port, ...announcement }));
  if (cluster.isWorker) {
    process.send({ port: await listen() });
    return;
  }
  if (count === 1) {
    announce(await listen());
    return;
  }
  let ready = 0;
  cluster.on('message', (_worker, { port }) => {
    ready += 1;
    if (ready === count) announce(port);
  });
  cluster.on('exit', (worker) => {
    console.error(`process ${worker.process.pid} of the cluster ended`);
    process.exit(1);
  });
  for (let i = 0; i < count; i += 1) cluster.fork();
}
