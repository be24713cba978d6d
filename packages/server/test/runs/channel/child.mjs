process.on('message', (message) => process.send({ heard: message }));
