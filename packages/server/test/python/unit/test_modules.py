"""Files of a project whose names other modules have too."""

import sys
import tempfile
import types
import unittest
from pathlib import Path

from svc_executor import values
from svc_executor.modules import import_file

FILES = {
    "types.py": "NAME = 'types'",
    "values.py": "NAME = 'values'",
    "graphs.py": "import values, types\nNAME = values.NAME\nIS_STANDARD = hasattr(types, 'ModuleType')",
    "json/__init__.py": "",
    "json/agent.py": "NAME = 'agent'",
    "svc/__init__.py": "",
    "svc/tools.py": "NAME = 'tools'",
    "svc/agent.py": "from svc.tools import NAME",
}


class ModuleTest(unittest.TestCase):
    """The modules of the project are loaded, and replace none of the standard library or of svc."""

    def test_names_that_are_taken(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in FILES.items():
                file = Path(folder, path)
                file.parent.mkdir(exist_ok=True)
                file.write_text(text)
            sys.path.append(folder)
            self.addCleanup(sys.path.remove, folder)
            names = {path: import_file(str(Path(folder, path))).__dict__.get("NAME") for path in FILES}
            graphs = import_file(str(Path(folder, "graphs.py")))
        self.assertEqual(names["types.py"], "types")
        self.assertEqual(names["values.py"], "values")
        self.assertEqual(names["json/agent.py"], "agent")
        self.assertEqual((graphs.NAME, graphs.IS_STANDARD), ("values", True))
        self.assertEqual(names["svc/agent.py"], "tools")
        self.assertIs(sys.modules["types"], types)
        self.assertIs(sys.modules["svc_executor.values"], values)


if __name__ == "__main__":
    unittest.main()
