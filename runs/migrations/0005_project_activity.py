from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0004_run_by_end"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="runrecord",
            name="run_project_by_recent",
        ),
        migrations.AddIndex(
            model_name="runrecord",
            index=models.Index(
                fields=["project", "-updated_at", "-id", "status", "last_activity_at"], name="run_project_by_recent"
            ),
        ),
    ]
