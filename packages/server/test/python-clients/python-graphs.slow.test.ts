// The Python clients work with Python graphs as they are.
import { testPythonClients } from './client-tests.ts';

testPythonClients('python.json');
